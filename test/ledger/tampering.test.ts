/**
 * An attacker who can write every file of the ledger, but not the anchor, edits, removes, adds, exchanges or truncates data,
 * or replaces the ledger, and recomputes every hash and sum. A verification without the anchor finds nothing; one with the
 * anchor does.
 */
import { cpSync, existsSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import {
  type Anchor,
  advanceHead,
  hashEntry,
  keepFileAnchor,
  ledgerPath,
  openLedgerFile,
  readEntriesAfter,
  recordedColumns,
  recordedTables,
  recordInSqlite,
  updateSums,
  verifyFile
} from "@larder/serve/ledger"
import type { Sqlite } from "@larder/serve/persistence"
import { Effect, Option } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { refusal, sampleGroups, temporaryFolder, withDatabase, writeGroups } from "../support/serve/sample-ledger.ts"
import { copyToNewFolder, makeOriginals, payment } from "./anchored-ledgers.ts"

const originals = makeOriginals()

const noServer = { sequence: 0, heads: new Map() }
const findProblems = (folder: string, anchor?: Anchor) =>
  withDatabase(folder, (sqlite) => verifyFile(sqlite, noServer, anchor).problems)

/** Replaces the last recorded state of each row by its present one, and removes the records of missing rows. */
const forgeRecords = (sqlite: Sqlite, lastEntry: number): void => {
  const now = new Map<string, string>()
  for (const table of recordedTables) {
    for (const { body, id } of sqlite.all(`select id, ${recordInSqlite(table, table)} as body from ${table}`)) {
      now.set(`${table} ${id}`, String(body))
    }
  }
  const records = sqlite.all("select kind, after_entry, body, body ->> 'id' as id from record order by number")
  sqlite.exec("delete from record")
  const insert = sqlite.prepare("insert into record (after_entry, kind, body) values (?, ?, ?)")
  for (const [index, { after_entry, body, id, kind }] of records.entries()) {
    const isLast = !records.slice(index + 1).some((later) => later.kind === kind && later.id === id)
    const forged = now.get(`${kind} ${id}`)
    if (forged === undefined) continue
    insert.run(Math.min(lastEntry, Number(after_entry)), String(kind), isLast ? forged : String(body))
    if (isLast) now.delete(`${kind} ${id}`)
  }
  for (const [name, body] of now) insert.run(lastEntry, name.split(" ")[0] ?? "", body)
}

/** Otherwise each change would be recorded like a change by an operator. */
const withoutTriggers = [
  "drop trigger delete_of_payment",
  ...recordedTables.map((table) => `drop trigger insert_of_${table}; drop trigger update_of_${table}`)
].join(";")

/** Recomputes everything derived from the changed rows. */
const forge = (sqlite: Sqlite): void => {
  sqlite.exec(
    "drop index entry_but_charge; create index entry_but_charge on entry (account_id, position) where type <> 'charge'"
  )
  const heads = new Map<string, { position: number; balance: number; hash: string }>()
  let sequence = 0
  const entries = [...readEntriesAfter(sqlite, 0)]
  sqlite.exec("delete from entry")
  const columns = Object.keys(entries[0] ?? {})
  const insert = sqlite.prepare(
    `insert into entry (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`
  )
  for (const entry of entries) {
    const head = heads.get(entry.account_id) ?? { position: 0, balance: 0, hash: "" }
    const placed = {
      ...entry,
      sequence: ++sequence,
      position: head.position + 1,
      balance: head.balance + entry.credits
    }
    const forged = { ...placed, hash: hashEntry(head.hash, placed) }
    heads.set(entry.account_id, forged)
    insert.run(...columns.map((column) => forged[column as keyof typeof forged]))
  }
  sqlite.exec(`delete from entry_place; delete from usage_of_day; delete from usage_of_endpoint; delete from usage_of_month;
    update progress set sequence = 0`)
  forgeRecords(sqlite, sequence)
  sqlite.exec("update head set entries = 0, records = 0, hash = ''")
  updateSums(sqlite)
  advanceHead(sqlite)
}

const otherValues: Readonly<Record<string, string>> = {
  credits: "credits + 1",
  budget_credits: "budget_credits + 1",
  cents: "cents + 1",
  occurred_at: "'2026-10-30T00:00:00.001Z'",
  endpoint: "'/v1/products'",
  type: "'grant'",
  scopes: `'["get-product"]'`,
  revision: "revision + 1",
  account_id: "'acct_b'",
  expires_at: "'2100-01-31T00:00:00.000Z'"
}
const editColumn = (table: string, column: string, condition: string) =>
  `update ${table} set ${column} = ${otherValues[column] ?? "'another'"} where ${condition}`

/** The columns of an entry that are not computed from others. The key of an entry must belong to its account. */
const entryColumns = ["type", "occurred_at", "endpoint", "credits", "budget_credits", "request_id"]
const edits = [
  ...entryColumns.map((column) => editColumn("entry", column, "sequence = 6")),
  "update entry set note = 'another' where sequence = 1",
  "update entry set key_id = 'key_c' where account_id = 'acct_a' and key_id = 'key_a' and sequence < 10",
  ...recordedColumns.account
    .filter((column) => column !== "id")
    .map((column) => editColumn("account", column, "id = 'acct_a'")),
  ...recordedColumns.api_key
    .filter((column) => column !== "id" && column !== "account_id")
    .map((column) => editColumn("api_key", column, "id = 'key_b'")),
  ...recordedColumns.payment.map((column) => editColumn("payment", column, "id = 'pay_1'")),
  "update api_key set revoked_at = null, budget_credits = 1000000 where id = 'key_a'",
  "update api_key set expires_at = null where id = 'key_c'"
]

const changes = [
  ...edits,
  "delete from entry where sequence = 6",
  "delete from entry where sequence > 60",
  "delete from payment",
  "delete from entry where account_id = 'acct_b'; delete from api_key where account_id = 'acct_b'; delete from account where id = 'acct_b'",
  "update entry set sequence = 100 where sequence = 6; update entry set sequence = 6 where sequence = 7; update entry set sequence = 7 where sequence = 100",
  "update entry set account_id = 'acct_a', key_id = 'key_a' where sequence = 7",
  `update entry set sequence = sequence + 1000 where sequence > 5;
    insert into entry select 6, account_id, 0, type, occurred_at, null, null, credits, 0, null, null, note, '' from entry where sequence = 1`,
  "insert into account values ('acct_x', 'x', '2026-10-30T00:00:00.000Z'); update record set after_entry = 0"
]

describe("a ledger whose rows were changed, with every hash and sum recomputed", () => {
  const opened = Effect.gen(function* () {
    const { reading: sqlite } = yield* openLedgerFile(yield* copyToNewFolder((yield* originals).stopped))
    sqlite.exec("pragma foreign_keys = off")
    return sqlite
  })
  const sound = oncePerFile(opened)
  /** Runs in the open transaction, which is rolled back afterwards. */
  const inTransaction = (sqlite: Sqlite): Sqlite => ({
    ...sqlite,
    transaction: (work) => work(),
    transactionOfSums: (work) => work(),
    inSnapshot: (work) => work()
  })

  it.live.each(changes)("differs from the anchored ledger: %s", (sql) =>
    Effect.gen(function* () {
      const { anchor } = yield* originals
      const sqlite = yield* sound
      const { withoutAnchor, found } = sqlite.inSnapshot(() => {
        sqlite.exec(`${withoutTriggers}; ${sql}`)
        forge(inTransaction(sqlite))
        const withoutAnchor = verifyFile(inTransaction(sqlite), noServer).problems
        sqlite.exec("drop table charged")
        return { withoutAnchor, found: verifyFile(inTransaction(sqlite), noServer, anchor).problems }
      })
      assert.deepStrictEqual(
        withoutAnchor.filter(
          (problem) => !/leaves a balance|highest budget|names key|was (charged|booked)/.test(problem)
        ),
        []
      )
      assert.match(
        found.join("; "),
        /the chain was anchored at entry 62 and record 7, and (has a different hash there|ends at)/
      )
    })
  )

  it.live("adds up and matches the anchor if it is unchanged", () =>
    Effect.gen(function* () {
      const { anchor, killed, stopped } = yield* originals
      for (const original of [stopped, killed]) {
        const folder = yield* copyToNewFolder(original)
        const found = yield* withDatabase(folder, (sqlite) => verifyFile(sqlite, noServer, anchor))
        assert.deepStrictEqual(found.problems, [])
        assert.deepStrictEqual(found.younger_than_anchor, { entries: 0, records: 0 })
      }
    }).pipe(Effect.scoped)
  )

  it.live("is reported as younger than the anchor", () =>
    Effect.gen(function* () {
      const { anchor, stopped } = yield* originals
      const folder = yield* copyToNewFolder(stopped)
      yield* withDatabase(folder, (sqlite) => sqlite.exec("update api_key set name = 'renamed' where id = 'key_a'"))
      const found = yield* withDatabase(folder, (sqlite) => verifyFile(sqlite, noServer, anchor))
      assert.deepStrictEqual(found.problems, [])
      assert.deepStrictEqual(found.younger_than_anchor, { entries: 0, records: 1 })
    }).pipe(Effect.scoped)
  )
})

const logPath = (folder: string) => `${ledgerPath(folder)}-wal`
const writeInLog = (folder: string, at: number, bytes: Uint8Array) => {
  const fd = openSync(logPath(folder), "r+")
  writeSync(fd, bytes, 0, bytes.length, at)
}
const frame = 4096 + 24

describe("a ledger whose last entries were removed", () => {
  const removals: ReadonlyArray<readonly [string, (folder: string, older: string) => void]> = [
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
    [
      "an older file in its place",
      (folder, older) => {
        rmSync(folder, { recursive: true })
        cpSync(older, folder, { recursive: true })
      }
    ]
  ]

  it.live.each(removals)(
    "is detected by the anchor, refused by the next start, and never replaces the anchor: %s",
    ([, remove]) =>
      Effect.gen(function* () {
        const { anchor, killed, older, place } = yield* originals
        const folder = yield* copyToNewFolder(killed)
        remove(folder, older)
        assert.isTrue(existsSync(ledgerPath(folder)))
        const start = Effect.flatMap(openLedgerFile(folder), (file) =>
          keepFileAnchor(file, Option.some(place), Effect.void)
        )
        const error = yield* Effect.flip(Effect.scoped(start))
        assert.match(error.message, /does not pass through its anchor at .*: its chain ends at/)
        assert.deepStrictEqual(Option.getOrThrow(yield* place.read), anchor)
        const found = yield* findProblems(folder, anchor)
        assert.match(found.join("; "), /the chain was anchored at entry 62 and record 7, and ends at/)
      }).pipe(Effect.scoped)
  )

  it.live("is refused by the next start if entries or records were deleted after they had been followed", () =>
    Effect.gen(function* () {
      const { anchor, place, stopped } = yield* originals
      for (const sql of ["delete from entry where sequence > 41", "delete from record where number > 5"]) {
        const folder = yield* copyToNewFolder(stopped)
        yield* withDatabase(folder, (sqlite) => sqlite.exec(sql))
        const start = Effect.flatMap(openLedgerFile(folder), (file) =>
          keepFileAnchor(file, Option.some(place), Effect.void)
        )
        assert.match(
          (yield* Effect.flip(Effect.scoped(start))).message,
          /its chain ends at entry \d+ and record \d+, and was/
        )
        assert.deepStrictEqual(Option.getOrThrow(yield* place.read), anchor)
        assert.match(
          (yield* refusal(folder)).message,
          /its chain ends at entry \d+ and record \d+, and was followed to entry 62/
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("is refused, and not created again, if the file was removed and its log exists", () =>
    Effect.gen(function* () {
      const { killed } = yield* originals
      const folder = yield* copyToNewFolder(killed)
      rmSync(ledgerPath(folder))
      const error = yield* refusal(folder)
      assert.match(error.message, /ledger.sqlite: it is missing or empty, but .*ledger.sqlite-wal exists/)
      assert.isTrue(existsSync(logPath(folder)))
    }).pipe(Effect.scoped)
  )

  it.live("is detected if another ledger is in its place", () =>
    Effect.gen(function* () {
      const { place } = yield* originals
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      yield* writeGroups(folder, groups)
      yield* withDatabase(folder, (sqlite) => sqlite.exec(payment.replace("pi_1", "pi_2")))
      const start = Effect.flatMap(openLedgerFile(folder), (file) =>
        keepFileAnchor(file, Option.some(place), Effect.void)
      )
      assert.match((yield* Effect.flip(Effect.scoped(start))).message, /its chain is a different one/)
    }).pipe(Effect.scoped)
  )
})
