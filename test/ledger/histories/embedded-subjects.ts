/** The embedded ledger as a subject of the histories: in memory, and in a folder that is copied at a simulated kill. */
import assert from "node:assert/strict"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { type Entry, type LedgerFile, openLedgerFile } from "@larder/serve/ledger"
import { openLedgerOver } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { type LedgerStore, openEmbeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import { updateSums } from "@larder/serve/ledger/embedded/progress.ts"
import { checkpoint } from "@larder/serve/persistence"
import { Effect, Exit, Logger, Scope, Stream } from "effect"
import { memoryStore } from "../../support/serve/memory-store.ts"
import type { LedgerKind, Subject, Traits } from "./subject.ts"
import { readLog, tear } from "./torn-group.ts"
import { type StoreHooks, watch } from "./watched-store.ts"

const progress = import.meta.resolve("@larder/serve/ledger/embedded/progress.ts")
const checkpoints = import.meta.resolve("@larder/serve/persistence/checkpoints.ts")

/** The storage of a ledger; after a kill, the copy of what the process had written. */
interface Storage extends StoreHooks {
  readonly open: Effect.Effect<LedgerStore, unknown, Scope.Scope>
  readonly remove: () => void
}

const inMemory = (): Storage => {
  const store = memoryStore()
  return {
    open: Effect.succeed(store),
    onDeath: async ({ moment }, write) => {
      if (moment === "after") await write()
    },
    afterGroup: () => {},
    remove: () => {}
  }
}

interface FolderOptions {
  /** After this many groups, the derived tables are updated, and the log is copied into the file and reset. */
  readonly groupsBeforeFollow: number
}

const inFolder = ({ groupsBeforeFollow }: FolderOptions): Storage => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-histories-"))
  let copies = 1
  let groups = 0
  let running: LedgerFile["Service"] | undefined
  let following: Promise<unknown> = Promise.resolve()
  const folder = () => path.join(home, `copy-${copies}`)
  /** Both are requested together: a thread that is closed completes what was requested before. */
  const follow = ({ thread }: LedgerFile["Service"]) =>
    Promise.all([thread.run(progress, updateSums), thread.run(checkpoints, checkpoint)])
  /** Nothing writes to the log during the copy. */
  const copyToNext = () => {
    const last = folder()
    copies++
    cpSync(last, folder(), { recursive: true })
  }
  return {
    open: Effect.suspend(() => openLedgerFile(folder())).pipe(
      Effect.tap((file) => Effect.sync(() => (running = file))),
      Effect.flatMap(openEmbeddedStore)
    ),
    onDeath: async (death, write) => {
      await following
      if (death.moment === "idle" || death.moment === "before") return copyToNext()
      const before = readLog(folder())
      await write()
      copyToNext()
      if (death.moment === "torn") tear(folder(), before, death)
    },
    afterGroup: () => {
      if (running !== undefined && ++groups % groupsBeforeFollow === 0) following = follow(running)
    },
    remove: () => rmSync(home, { recursive: true, force: true })
  }
}

/** Entries are recorded on their way to the store: reading them from a folder after each step would take most of the time. */
const openSubject = async (storage: Storage): Promise<Subject> => {
  const written: Array<Entry> = []
  const warnings: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => warnings.push(String(message)))])

  const start = async () => {
    const scope = Scope.makeUnsafe()
    const opening = Effect.gen(function* () {
      const store = yield* storage.open
      const watched = watch(store, written, storage)
      return { scope, store, watched, ledger: yield* openLedgerOver(watched) }
    })
    return Effect.runPromise(opening.pipe(Scope.provide(scope), Effect.provide(logger)))
  }
  let running = await start()
  const stop = () => Effect.runPromise(Scope.close(running.scope, Exit.void))

  const entriesOf = (accountId: string) => written.filter((entry) => entry.account_id === accountId)
  /** Starts the ledger, which must contain what was durable, and nothing else. */
  const startAgain = async () => {
    running = await start()
    for (const account of new Set(written.map(({ account_id }) => account_id))) {
      const entries = await Effect.runPromise(Stream.runCollect(running.store.entriesOf(account)))
      assert.deepEqual(entries, entriesOf(account), "after a start, the entries are not those that were written")
    }
  }

  return {
    servers: () => [running.ledger],
    entriesOf: async (accountId) => entriesOf(accountId),
    restart: async (_, begin) => {
      begin()
      await stop()
      await startAgain()
    },
    crash: async (_, death, begin) => {
      const { watched } = running
      if (death.moment === "idle") await watched.dieNow()
      const died = watched.dieAtNextGroup(death)
      const ended = begin()
      const isInterrupted = await Promise.race([died.then(() => true), ended.then(() => false)])
      if (!isInterrupted) await watched.dieNow()
      await Promise.all([stop(), startAgain()])
    },
    beginOutage: async () => {
      running.watched.isDown = true
    },
    endOutage: async () => {
      running.watched.isDown = false
    },
    close: async () => {
      await stop()
      storage.remove()
      assert.deepEqual(warnings, [])
    }
  }
}

const traits: Traits = {
  supportsUsage: false,
  outage: "of writes",
  hasExactRemaining: true,
  hasGaplessNumbers: true,
  decidesAgain: false,
  remembersRequestIds: "while it runs"
}

export const overMemory: LedgerKind = { name: "memory", traits, open: () => openSubject(inMemory()) }

export const overFolder = (name: string, options: FolderOptions): LedgerKind => ({
  name,
  traits: { ...traits, supportsUsage: true },
  open: () => openSubject(inFolder(options))
})
