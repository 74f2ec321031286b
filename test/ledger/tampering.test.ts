/**
 * A ledger in a folder whose file was cut, damaged or replaced, while `sums.sqlite` next to it stayed: that file has the
 * number and the hash of the last entry that was summed up, so the next start refuses the folder.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync
} from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { openLedgerFile } from "@larder/serve/ledger"
import { openEmbeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import { ledgerPath } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { updateSums } from "@larder/serve/ledger/embedded/progress.ts"
import { openAccount } from "@larder/serve/ledger/rules/open-account.ts"
import { Effect } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import {
  append,
  makeWriter,
  refusal,
  sampleGroups,
  temporaryFolder,
  writeGroups
} from "../support/serve/sample-ledger.ts"

/** A ledger that was killed with a full log, an older state of it, and another ledger with more entries. */
const originals = oncePerFile(
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const [live, killed] = [path.join(folder, "live"), path.join(folder, "killed")]
    const [older, other] = [path.join(folder, "older"), path.join(folder, "other")]
    yield* writeGroups(older, sampleGroups().slice(0, 40))
    const write = makeWriter()
    yield* writeGroups(other, [write(openAccount("acct_z", "Z", 0)), ...sampleGroups(write)])
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* openLedgerFile(live)
        yield* append(yield* openEmbeddedStore(file), sampleGroups())
        updateSums(file.reading)
        cpSync(live, killed, { recursive: true })
      })
    )
    return { killed, older, other }
  })
)

const copyKilled = Effect.gen(function* () {
  const { killed } = yield* originals
  const folder = yield* temporaryFolder
  cpSync(killed, folder, { recursive: true })
  return folder
})

const logPath = (folder: string) => `${ledgerPath(folder)}-wal`
const writeInLog = (folder: string, at: number, bytes: Uint8Array) => {
  const fd = openSync(logPath(folder), "r+")
  writeSync(fd, bytes, 0, bytes.length, at)
}
const frame = 4096 + 24
/** The stopped ledger has no log. */
const replaceFile = (folder: string, stopped: string) => {
  rmSync(logPath(folder))
  copyFileSync(ledgerPath(stopped), ledgerPath(folder))
}

const changes: ReadonlyArray<
  readonly [string, (folder: string, others: { readonly older: string; readonly other: string }) => void]
> = [
  ["its log truncated", (folder) => truncateSync(logPath(folder), Math.floor(statSync(logPath(folder)).size / 2))],
  ["its log removed", (folder) => rmSync(logPath(folder))],
  ["its log emptied", (folder) => truncateSync(logPath(folder), 0)],
  [
    "its last ten pages zeroed",
    (folder) => writeInLog(folder, statSync(logPath(folder)).size - 10 * frame, Buffer.alloc(10 * frame))
  ],
  [
    "a byte of its last page flipped",
    (folder) => {
      const at = statSync(logPath(folder)).size - 100
      writeInLog(folder, at, Uint8Array.of((readFileSync(logPath(folder))[at] ?? 0) ^ 1))
    }
  ],
  ["an older file in its place", (folder, { older }) => replaceFile(folder, older)],
  ["another ledger in its place", (folder, { other }) => replaceFile(folder, other)]
]

describe("a ledger whose file was cut, damaged or replaced", () => {
  it.live("is opened if it was not", () =>
    Effect.gen(function* () {
      yield* writeGroups(yield* copyKilled, [])
    }).pipe(Effect.scoped)
  )

  it.live.each(changes)("is refused by the next start: %s", ([, change]) =>
    Effect.gen(function* () {
      const folder = yield* copyKilled
      change(folder, yield* originals)
      assert.match(
        (yield* refusal(folder)).message,
        /entries were summed up to number 62, which is missing or different/
      )
    }).pipe(Effect.scoped)
  )

  it.live("is refused, and not created again, if the file was removed and its log exists", () =>
    Effect.gen(function* () {
      const folder = yield* copyKilled
      rmSync(ledgerPath(folder))
      const error = yield* refusal(folder)
      assert.match(error.message, /ledger.sqlite: it is missing or empty, but .*ledger.sqlite-wal exists/)
      assert.isTrue(existsSync(logPath(folder)))
    }).pipe(Effect.scoped)
  )
})
