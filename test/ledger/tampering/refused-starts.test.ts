/**
 * What a start refuses. In a folder: a file that was cut, damaged or replaced, while `sums.sqlite` next to it stayed; that
 * file has the number and the hash of the last entry that was summed up. In PostgreSQL: the newest entries of an account,
 * and what is counted for the budgets of this month, if they do not add up.
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
import { openLedgerFile, openPostgresLedger } from "@larder/serve/ledger"
import { openEmbeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import { ledgerPath } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { updateSums } from "@larder/serve/ledger/embedded/progress.ts"
import { monthOfTimestamp } from "@larder/serve/ledger/postgres/sql/sql-expressions.ts"
import { openAccount } from "@larder/serve/ledger/rules/open-account.ts"
import { Effect } from "effect"
import { oncePerFile } from "../../support/once-per-file.ts"
import {
  append,
  makeWriter,
  refusal,
  sampleGroups,
  temporaryFolder,
  writeGroups
} from "../../support/serve/sample-ledger.ts"
import { runStatements, sampleDatabase } from "./sound-ledgers.ts"

/** Folders: a ledger that was killed with a full log, an older state of it, and another ledger with more entries. */
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

const summedUp = /entries were summed up to number 62, which is missing or different/

interface Folders {
  readonly older: string
  readonly other: string
}
type Tampering =
  | { readonly what: string; readonly inFolder: (folder: string, folders: Folders) => void; readonly refusal: RegExp }
  | { readonly what: string; readonly inPostgres: string; readonly refusal: RegExp }

const rows: ReadonlyArray<Tampering> = [
  {
    what: "a log that is truncated",
    inFolder: (folder) => truncateSync(logPath(folder), Math.floor(statSync(logPath(folder)).size / 2)),
    refusal: summedUp
  },
  { what: "a log that is removed", inFolder: (folder) => rmSync(logPath(folder)), refusal: summedUp },
  { what: "a log that is emptied", inFolder: (folder) => truncateSync(logPath(folder), 0), refusal: summedUp },
  {
    what: "ten last pages that are zeroed",
    inFolder: (folder) => writeInLog(folder, statSync(logPath(folder)).size - 10 * frame, Buffer.alloc(10 * frame)),
    refusal: summedUp
  },
  {
    what: "a byte of the last page that is flipped",
    inFolder: (folder) => {
      const at = statSync(logPath(folder)).size - 100
      writeInLog(folder, at, Uint8Array.of((readFileSync(logPath(folder))[at] ?? 0) ^ 1))
    },
    refusal: summedUp
  },
  {
    what: "an older file in its place",
    inFolder: (folder, { older }) => replaceFile(folder, older),
    refusal: summedUp
  },
  {
    what: "another ledger in its place",
    inFolder: (folder, { other }) => replaceFile(folder, other),
    refusal: summedUp
  },
  {
    what: "a file that is removed, although its log exists",
    inFolder: (folder) => rmSync(ledgerPath(folder)),
    refusal: /ledger.sqlite: it is missing or empty, but .*ledger.sqlite-wal exists/
  },
  {
    what: "an entry that is changed",
    inPostgres: "update entry set note = 'x' where account_id = 'acct_a' and position = 3",
    refusal: /entry 3 of account acct_a is not what was written: its hash does not match/
  },
  {
    what: "an entry that is missing",
    inPostgres: "delete from entry where account_id = 'acct_a' and position = 3",
    refusal: /entry 4 of account acct_a follows its entry 2, so entries are missing/
  },
  {
    what: "a first entry that is missing",
    inPostgres: "delete from entry where account_id = 'acct_a' and position = 1",
    refusal: /entry 2 of account acct_a follows its entry 0, so entries are missing/
  },
  {
    what: "a balance that is changed",
    inPostgres: "update account set balance = 6000 where id = 'acct_b'",
    refusal: /account acct_b has 6000 credits after 21 entries/
  },
  {
    what: "a sum that is counted for a budget of this month",
    inPostgres: `insert into spent_in_month
      select 'key_a', ${monthOfTimestamp("now()")}, 7
      on conflict (key_id, month) do update set credits = spent_in_month.credits + 7`,
    refusal: /key key_a has spent \d*7 credits this month, but its days add up to \d*0/
  }
]

/** The error of the next start of a tampered copy. */
const refusalAfter = Effect.fnUntraced(function* (row: Tampering) {
  if ("inFolder" in row) {
    const folder = yield* copyKilled
    row.inFolder(folder, yield* originals)
    const hadFile = existsSync(ledgerPath(folder))
    const error = yield* refusal(folder)
    assert.strictEqual(existsSync(ledgerPath(folder)), hadFile)
    if (!hadFile) assert.isTrue(existsSync(logPath(folder))) // so that the file can be put back
    return error
  }
  const { folder, sql, url } = yield* sampleDatabase
  yield* Effect.scoped(openPostgresLedger(url, folder))
  yield* runStatements(sql, row.inPostgres)
  const error = yield* Effect.flip(openPostgresLedger(url, folder))
  assert.strictEqual(error._tag, "LedgerDamaged")
  return error
})

describe("a start", () => {
  it.live("opens a folder after a kill, if nobody has tampered with it", () =>
    Effect.gen(function* () {
      yield* writeGroups(yield* copyKilled, [])
    }).pipe(Effect.scoped)
  )

  it.live.each(rows)("refuses $what", (row) =>
    Effect.gen(function* () {
      assert.match((yield* refusalAfter(row)).message, row.refusal)
    }).pipe(Effect.scoped)
  )
})
