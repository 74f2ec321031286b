/**
 * Opens embedded ledgers whose process was killed: with an incomplete group, with a log that was reset, while the log was
 * copied into the file, or while the derived tables were updated.
 */
import { cpSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type LedgerFile, openLedgerFile } from "@larder/serve/ledger"
import { type LedgerStore, openEmbeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import { ledgerPath } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { readProgress, updateSums } from "@larder/serve/ledger/embedded/progress.ts"
import type { Group } from "@larder/serve/ledger/rules/ledger-state.ts"
import { checkpoint } from "@larder/serve/persistence/checkpoints.ts"
import { Effect, Logger } from "effect"
import {
  aCharge,
  accountCreation,
  aKey,
  charges,
  createdAt,
  makeKilledLedger,
  numbersOf
} from "../support/serve/killed-ledger.ts"
import { append, temporaryFolder, useStore } from "../support/serve/sample-ledger.ts"
import { chanceFrom } from "./chance.ts"
import { findTransactions, headerLength, logPath, tearBytes, tears } from "./torn-log.ts"

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

/** Runs an effect, and returns its result and the logged messages. */
const collectLogs = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const messages: Array<string> = []
  const logger = Logger.make(({ message }) => messages.push(String(message)))
  const result = yield* Effect.provide(effect, Logger.layer([logger]))
  return { result, messages }
})

/** Opens the store and its file, like a server. */
const withStore = <A, E, R>(
  folder: string,
  use: (file: LedgerFile["Service"], store: LedgerStore) => Effect.Effect<A, E, R>
) =>
  openLedgerFile(folder).pipe(
    Effect.flatMap((file) => Effect.flatMap(openEmbeddedStore(file), (store) => use(file, store))),
    Effect.scoped
  )

/** Copies a folder next to it, and changes the log in the copy. */
const copyFolder = (folder: string, name: string, change: (log: Buffer) => Buffer = (log) => log) => {
  const copy = path.join(path.dirname(folder), name)
  cpSync(folder, copy, { recursive: true })
  writeFileSync(logPath(copy), change(readFileSync(logPath(copy))))
  return copy
}

const findLast = (log: Buffer) => {
  const last = findTransactions(log).at(-1)
  if (last === undefined) throw new Error("the log has no transaction")
  return last
}

/** Changes only the last transaction of a log. */
const changeLast = (change: (transaction: Buffer) => Buffer) => (log: Buffer) => {
  const { end, start } = findLast(log)
  return Buffer.concat([log.subarray(0, start), change(log.subarray(start, end)), log.subarray(end)])
}

const emptyBuffer = Buffer.alloc(0)

describe("a group that was not written completely", () => {
  it.effect("is dropped completely, however much of its end is missing", () =>
    Effect.gen(function* () {
      const folder = yield* makeKilledLedger(accountCreation, charges(2), charges(3, 4))
      const { end, start } = findLast(readFileSync(logPath(folder)))
      const whole = copyFolder(folder, "whole")
      assert.deepStrictEqual(yield* collectLogs(useStore(whole, numbersOf)), { result: [1, 2, 3, 4], messages: [] })
      for (const missing of [1, (end - start) / 2, end - start - 40]) {
        const clearEnd = changeLast((transaction) =>
          Buffer.from(transaction).fill(0, transaction.length - Math.floor(missing))
        )
        const copy = copyFolder(folder, `missing-${missing}`, clearEnd)
        assert.deepStrictEqual(yield* collectLogs(useStore(copy, numbersOf)), { result: [1, 2], messages: [] })
      }
    })
  )

  it.effect.each(tears)("is dropped when %s did not reach the disk", (part) =>
    Effect.gen(function* () {
      const folder = yield* makeKilledLedger(accountCreation, charges(2), charges(3, 4))
      for (const seed of [1, 2, 3]) {
        const tear = changeLast((transaction) => tearBytes(transaction, emptyBuffer, part, chanceFrom(seed)))
        const copy = copyFolder(folder, `torn-${seed}`, tear)
        assert.deepStrictEqual(yield* collectLogs(useStore(copy, numbersOf)), { result: [1, 2], messages: [] })
      }
    })
  )

  it.effect("is overwritten by the next group, and the rest of it is never read", () =>
    Effect.gen(function* () {
      const folder = yield* makeKilledLedger(accountCreation, charges(...numbersTo(40).slice(1)))
      const live = copyFolder(
        folder,
        "torn",
        changeLast((transaction) => Buffer.from(transaction).fill(0, 0, 50))
      )
      const killed = path.join(path.dirname(folder), "killed-again")
      yield* useStore(live, (store) =>
        Effect.andThen(
          append(store, [charges(2)]),
          Effect.sync(() => cpSync(live, killed, { recursive: true }))
        )
      )
      const log = readFileSync(logPath(killed))
      assert.isAbove(log.length, findLast(log).end)
      assert.deepStrictEqual(yield* useStore(killed, numbersOf), [1, 2])
      yield* useStore(killed, (store) => append(store, [charges(3, 4)]))
      assert.deepStrictEqual(yield* useStore(killed, numbersOf), [1, 2, 3, 4])
    })
  )
})

/**
 * A ledger whose log is reset after each tenth entry, and whose process is killed after some of 150 entries: after the
 * 110th, the log has been copied into the file, but not reset; the 111th resets it.
 */
const ledgerWithResets = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const live = path.join(folder, "live")
  const killedAt = new Map<number, string>()
  yield* withStore(live, ({ reading: sqlite }, store) =>
    Effect.gen(function* () {
      yield* append(store, [accountCreation])
      for (const sequence of numbersTo(150).slice(1)) {
        yield* append(store, [charges(sequence)])
        if (sequence % 10 === 0) {
          updateSums(sqlite)
          checkpoint(sqlite)
        }
        if (![109, 110, 111, 112, 119, 120, 121, 150].includes(sequence)) continue
        const copy = path.join(folder, `killed-${sequence}`)
        cpSync(live, copy, { recursive: true })
        killedAt.set(sequence, copy)
      }
    })
  )
  const folderAt = (sequence: number) => killedAt.get(sequence) ?? folder
  return { killedAt, folderAt, logAt: (sequence: number) => readFileSync(logPath(folderAt(sequence))) }
})

describe("a log that is reset", () => {
  it.effect("never returns the content of an older log, whenever the process is killed", () =>
    Effect.gen(function* () {
      const { killedAt, logAt } = yield* ledgerWithResets
      assert.notDeepEqual(logAt(110).subarray(0, headerLength), logAt(111).subarray(0, headerLength))
      assert.isAbove(logAt(111).length, findLast(logAt(111)).end) // the content of an older log follows its end
      for (const [last, folder] of killedAt) {
        assert.deepStrictEqual(yield* useStore(folder, numbersOf), numbersTo(last))
      }
    })
  )

  it.effect("ignores a complete transaction of an older log after its last one", () =>
    Effect.gen(function* () {
      const { folderAt, logAt } = yield* ledgerWithResets
      const older = findLast(logAt(109))
      const copy = copyFolder(folderAt(112), "with-older", (log) =>
        Buffer.concat([log.subarray(0, findLast(log).end), logAt(109).subarray(older.start, older.end)])
      )
      assert.deepStrictEqual(yield* collectLogs(useStore(copy, numbersOf)), { result: numbersTo(112), messages: [] })
    })
  )

  it.effect("loses nothing when its new header was written partly, without its first group, or with a part of it", () =>
    Effect.gen(function* () {
      const { folderAt, logAt } = yield* ledgerWithResets
      const resetLog = logAt(111)
      const replaceStart = (length: number) => (log: Buffer) =>
        Buffer.concat([resetLog.subarray(0, length), log.subarray(length)])
      for (const length of [12, 20, 28, headerLength]) {
        const copy = copyFolder(folderAt(110), `header-${length}`, replaceStart(length))
        assert.deepStrictEqual(yield* useStore(copy, numbersOf), numbersTo(110))
      }
      const { end, start } = findLast(resetLog)
      for (const missing of tears) {
        const copy = copyFolder(folderAt(110), `torn, ${missing}`, (log) => {
          const part = tearBytes(resetLog.subarray(start, end), log.subarray(start, end), missing, chanceFrom(1))
          return Buffer.concat([resetLog.subarray(0, start), part, log.subarray(end)])
        })
        assert.deepStrictEqual(yield* useStore(copy, numbersOf), numbersTo(110))
      }
    })
  )
})

describe("a log that is copied into the file", () => {
  const edits: Group = { accounts: [], keys: [aKey({ name: "edited", revision: 2 })], entries: [] }

  /** The folder before and after the copy, with the same log. */
  const copied = Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const [live, before, after] = ["live", "before", "after"].map((name) => path.join(folder, name))
    if (live === undefined || before === undefined || after === undefined) throw new Error("unreachable")
    yield* withStore(live, ({ reading: sqlite }, store) =>
      Effect.gen(function* () {
        yield* append(store, [accountCreation, charges(2), edits, charges(3)])
        cpSync(live, before, { recursive: true })
        checkpoint(sqlite)
        cpSync(live, after, { recursive: true })
      })
    )
    assert.deepStrictEqual(readFileSync(logPath(before)), readFileSync(logPath(after)))
    return { before, after }
  })
  const assertComplete = Effect.fnUntraced(function* (folder: string) {
    const [snapshot, numbers] = yield* useStore(folder, (store) => Effect.all([store.load, numbersOf(store)]))
    assert.strictEqual(snapshot.sequence, 3)
    assert.strictEqual(snapshot.accounts.length, 1)
    assert.deepStrictEqual(snapshot.keys, [aKey({ name: "edited", revision: 2 })])
    assert.deepStrictEqual(numbers, [1, 2, 3])
  })

  it.effect("adds its entries once if the process died before the log was reset", () =>
    Effect.gen(function* () {
      const { after } = yield* copied
      yield* assertComplete(after)
    })
  )

  it.effect("is copied again if the process died during the copy", () =>
    Effect.gen(function* () {
      const { after, before } = yield* copied
      const [old, whole] = [before, after].map((folder) => readFileSync(ledgerPath(folder)))
      if (old === undefined || whole === undefined) throw new Error("unreachable")
      for (const part of [0.1, 0.5, 0.9]) {
        const copy = copyFolder(after, `part-${part}`)
        const length = Math.floor(whole.length * part) // within a page
        writeFileSync(ledgerPath(copy), Buffer.concat([whole.subarray(0, length), old.subarray(length)]))
        yield* assertComplete(copy)
      }
    })
  )
})

describe("derived tables", () => {
  it.effect("count nothing twice if the process is killed between two batches, or within one", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const [live, killed] = [path.join(folder, "live"), path.join(folder, "killed")]
      const last = 500
      const expected = { sequence: last, heads: new Map([["acct_a", aCharge(last)]]) }
      yield* withStore(live, ({ reading: sqlite }, store) =>
        Effect.gen(function* () {
          for (const to of [250, last]) {
            yield* append(
              store,
              to === last
                ? [charges(...numbersTo(to).slice(250))]
                : [accountCreation, charges(...numbersTo(to).slice(1))]
            )
            updateSums(sqlite)
          }
          cpSync(live, killed, { recursive: true })
        })
      )
      const sumsLogPath = (folder: string) => path.join(folder, "sums.sqlite-wal")
      const batches = findTransactions(readFileSync(sumsLogPath(killed))).slice(-2)
      const reached: Array<number> = []
      for (const [index, { end, start }] of batches.entries()) {
        const copy = copyFolder(killed, `batch-${index}`)
        truncateSync(sumsLogPath(copy), (start + end) / 2)
        yield* withStore(copy, ({ reading: sqlite }, store) =>
          Effect.gen(function* () {
            reached.push(readProgress(sqlite))
            const day = createdAt.slice(0, 10)
            const usage = store.usage({ account_id: "acct_a", from: day, to: day })
            const counted = [
              { day, key_id: "key_a", endpoint: "/v1/stores", calls: last - 1, credits: 10 * (last - 1) }
            ]
            assert.deepStrictEqual(yield* usage, counted)
            updateSums(sqlite)
            assert.deepStrictEqual(yield* usage, counted)
            assert.deepStrictEqual((yield* store.verify(expected)).problems, [])
          })
        )
      }
      assert.deepStrictEqual(reached, [0, 250])
    })
  )
})
