/**
 * An attacker who can write everything in the database, but not the anchor, changes the ledger and recomputes every hash,
 * sum, record and the head. A verification without the anchor finds nothing; one with the anchor does. The ledger was moved
 * from a folder, with its anchor.
 */
import type { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import {
  beforeFirstLink,
  connect,
  Entry,
  entryRow,
  followDatabaseChain,
  hashEntry,
  keepDatabaseAnchor,
  maxLinkNumber,
  moveToPostgres,
  recordedColumns,
  recordedTables,
  recordInPostgres,
  sumStatements,
  verifyContents,
  verifyDatabase
} from "@larder/serve/ledger"
import { Effect, Option, Redacted, Schema } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { sampleGroups, temporaryFolder, writeGroups } from "../support/serve/sample-ledger.ts"
import { copyToNewFolder, makeOriginals } from "./anchored-ledgers.ts"
import { database } from "./shared-ledger.ts"

const originals = makeOriginals()

/** Moves a ledger in a folder into a new database. */
const moveToDatabase = Effect.fnUntraced(function* (folder: string) {
  const url = Redacted.make(yield* database)
  yield* moveToPostgres(folder, url)
  return yield* connect(url)
})

const run = (sql: PgClient.PgClient, statements: string) =>
  Effect.forEach(statements.split(";"), (statement) => sql.unsafe(statement), { discard: true })

const tableOf = { account: "ledger.account", api_key: "ledger.api_key", payment: "console.payment" }

/** Replaces the last recorded state of each row by its present one, and removes the records of missing rows. */
const forgeRecords = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  for (const table of recordedTables) {
    const now = `select id, ${recordInPostgres(table, "now")} as body from ${tableOf[table]} as now`
    yield* sql.unsafe(
      `delete from ledger.record where kind = '${table}' and body ->> 'id' not in (select id from (${now}) as now)`
    )
    yield* sql.unsafe(`
      update ledger.record set body = now.body
      from (${now}) as now
      where kind = '${table}' and record.body ->> 'id' = now.id and number = (
        select max(number) from ledger.record as later where kind = '${table}' and later.body ->> 'id' = now.id
      )`)
    yield* sql.unsafe(`
      insert into ledger.record (kind, body)
      select '${table}', body
      from (${now}) as now
      where id not in (select body ->> 'id' from ledger.record where kind = '${table}')`)
  }
})

const entries = `select ${entryRow} as value from ledger.entry order by sequence`
const decodeEntries = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ value: Entry })))

/** Recomputes everything derived from the changed rows. */
const forge = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const heads = new Map<string, { position: number; balance: number; hash: string }>()
  const forged = (yield* Effect.flatMap(sql.unsafe(entries), decodeEntries)).map(({ value }) => {
    const head = heads.get(value.account_id) ?? { position: 0, balance: 0, hash: "" }
    const placed = { ...value, position: head.position + 1, balance: head.balance + value.credits }
    const entry = { ...placed, hash: hashEntry(head.hash, placed) }
    heads.set(entry.account_id, entry)
    return entry
  })
  yield* run(
    sql,
    `delete from ledger.entry; delete from ledger.spent_in_month; delete from ledger.usage_of_day;
    delete from ledger.usage_of_month; delete from ledger.usage_of_endpoint`
  )
  yield* sql.unsafe(
    "insert into ledger.entry select * from jsonb_populate_recordset(null::ledger.entry, $1::text::jsonb)",
    [JSON.stringify(forged)]
  )
  for (const statement of sumStatements) yield* sql.unsafe(statement)
  yield* forgeRecords(sql)
  const end = yield* followDatabaseChain(sql, beforeFirstLink, maxLinkNumber)
  yield* sql.unsafe(
    "update ledger.head set entries = $1::bigint, records = $2::bigint, sequence = $3::text::bigint, hash = $4",
    [end.entries, end.records, end.sequence, end.hash]
  )
})

/** Otherwise each change would be recorded like a change by an operator. */
const disableGuards = [
  ...Object.values(tableOf).map((table) => `alter table ${table} disable trigger user`),
  "alter table ledger.api_key drop constraint api_key_account_id_fkey",
  "alter table ledger.spent_in_month drop constraint spent_in_month_key_id_fkey"
].join(";")

const otherValues: Readonly<Record<string, string>> = {
  credits: "credits + 1",
  budget_credits: "budget_credits + 1",
  former_expires_at: "'2100-01-31T00:00:00.000Z'",
  cents: "cents + 1",
  occurred_at: "'2026-10-30T00:00:00.001Z'",
  created_at: "'2026-10-29T00:00:00.001Z'",
  revoked_at: "'2026-10-30T00:00:00.001Z'",
  expires_at: "'2100-01-31T00:00:00.000Z'",
  endpoint: "'/v1/products'",
  type: "'grant'",
  scopes: "'{get-product}'",
  revision: "revision + 1",
  account_id: "'acct_b'"
}
const editColumn = (table: string, column: string, condition: string) =>
  `update ${table} set ${column} = ${otherValues[column] ?? "'another'"} where ${condition}`

/** The columns of an entry that are not computed from others. The key of an entry must belong to its account. */
const entryColumns = ["type", "occurred_at", "endpoint", "credits", "budget_credits", "request_id"]
const changes = [
  ...entryColumns.map((column) => editColumn("ledger.entry", column, "request_id = 'req_6'")),
  "update ledger.entry set note = 'another' where account_id = 'acct_a' and position = 1",
  "update ledger.entry set key_id = 'key_c' where key_id = 'key_a' and position < 10",
  ...recordedColumns.account
    .filter((column) => column !== "id")
    .map((column) => editColumn("ledger.account", column, "id = 'acct_a'")),
  ...recordedColumns.api_key
    .filter((column) => column !== "id" && column !== "account_id")
    .map((column) => editColumn("ledger.api_key", column, "id = 'key_b'")),
  ...recordedColumns.payment.map((column) => editColumn("console.payment", column, "id = 'pay_1'")),
  "update ledger.api_key set budget_credits = 1000000 where id = 'key_a'",
  "update ledger.api_key set expires_at = null where id = 'key_c'",
  "delete from ledger.entry where request_id = 'req_6'",
  "delete from ledger.entry where request_id in ('req_61', 'req_62')",
  "delete from console.payment",
  "delete from ledger.entry where account_id = 'acct_b'; delete from ledger.api_key where account_id = 'acct_b'; delete from ledger.account where id = 'acct_b'",
  `update ledger.entry set sequence = 1000 where request_id = 'req_6';
    update ledger.entry set sequence = sequence - 1 where request_id = 'req_7';
    update ledger.entry set sequence = (select sequence + 1 from ledger.entry where request_id = 'req_7') where request_id = 'req_6'`,
  "update ledger.entry set account_id = 'acct_a', key_id = 'key_a', position = 1000 where request_id = 'req_7'",
  `insert into ledger.entry (sequence, account_id, position, type, occurred_at, credits, balance, note, hash)
    select -5, account_id, 1000, type, occurred_at, credits, 0, note, '' from ledger.entry where account_id = 'acct_a' and position = 1`,
  `insert into ledger.account (id, name, created_at, position, balance, hash) values ('acct_x', 'x', '2026-10-30T00:00:00.000Z', 0, 0, '');
    insert into ledger.record (number, kind, body) select 0, 'account', ${recordInPostgres("account", "x")} from ledger.account as x where id = 'acct_x'`,
  "update ledger.record set number = number + 1000 where kind = 'api_key' and body ->> 'id' = 'key_b'"
]

/** Thrown to roll back the changes. */
class Found extends Schema.TaggedError<Found>()("Found", {
  withoutAnchor: Schema.Array(Schema.String),
  found: Schema.Array(Schema.String)
}) {}

describe("a ledger in PostgreSQL whose rows were changed, with every hash, sum and record recomputed", () => {
  const sound = oncePerFile(
    Effect.flatMap(originals, ({ stopped }) => Effect.flatMap(copyToNewFolder(stopped), moveToDatabase))
  )

  it.live("adds up, and matches the anchor of the folder that it was moved from", () =>
    Effect.gen(function* () {
      const { anchor } = yield* originals
      const found = yield* verifyDatabase(yield* sound, anchor)
      assert.deepStrictEqual(found.problems, [])
      assert.deepStrictEqual(found.younger_than_anchor, { entries: 0, records: 0 })
    })
  )

  it.live.each(changes)("differs from the anchored ledger: %s", (statements) =>
    Effect.gen(function* () {
      const { anchor } = yield* originals
      const sql = yield* sound
      const tamper = Effect.gen(function* () {
        yield* run(sql, `${disableGuards}; ${statements}`)
        yield* forge(sql)
        const { problems: withoutAnchor } = yield* verifyContents(sql)
        const { problems: found } = yield* verifyContents(sql, anchor)
        return yield* new Found({ withoutAnchor, found })
      })
      const { withoutAnchor, found } = yield* sql.withTransaction(tamper).pipe(Effect.catchTag("Found", Effect.succeed))
      assert.deepStrictEqual(
        withoutAnchor.filter((problem) => !/leaves a balance|highest budget|names key/.test(problem)),
        []
      )
      assert.match(
        found.join("; "),
        /the chain was anchored at entry 62 and record 7, and (has a different hash there|ends at)/
      )
    })
  )

  it.live.each([
    ["update ledger.account set name = 'x' where id = 'acct_b'", "account acct_b is not what was recorded: name"],
    [
      "insert into ledger.account (id, name, created_at, position, balance, hash) values ('acct_x', 'x', now(), 0, 0, '')",
      "account acct_x was never recorded"
    ],
    ["update ledger.api_key set sha256 = 'x' where id = 'key_b'", "key key_b is not what was recorded: sha256"],
    ["update console.payment set cents = 1", "payment pay_1 is not what was recorded: cents"],
    ["delete from console.payment", "payment pay_1 was recorded, but is missing"],
    ["delete from ledger.record where kind = 'payment'", "payment pay_1 was never recorded"],
    [
      "update ledger.entry set occurred_at = 'infinity' where account_id = 'acct_a' and position = 1",
      "entry 1 of account acct_a is not what was written: its hash does not match"
    ],
    [
      "update ledger.entry set occurred_at = occurred_at - interval '4051 years' where account_id = 'acct_a' and position = 1",
      "entry 1 of account acct_a is not what was written: its hash does not match"
    ],
    [
      "update ledger.entry set occurred_at = occurred_at + interval '1 microsecond' where account_id = 'acct_a' and position = 1",
      "entry 1 of account acct_a is not what was written: its hash does not match"
    ],
    [
      "update ledger.api_key set created_at = created_at - interval '4051 years' where id = 'key_b'",
      "key key_b is not what was recorded: created_at"
    ],
    [
      "alter table ledger.entry alter column type drop not null; update ledger.entry set type = null where account_id = 'acct_a' and position = 1",
      "entry 1 of account acct_a is not what was written: its hash does not match"
    ],
    [
      "update ledger.entry set request_id = '' where account_id = 'acct_a' and position = 1",
      "entry 1 of account acct_a is not what was written: a field is empty"
    ]
  ])("is reported with its row if nothing is recomputed: %s", ([statements, problem]) =>
    Effect.gen(function* () {
      const sql = yield* sound
      const tamper = Effect.gen(function* () {
        yield* run(sql, `${disableGuards}; ${statements}`)
        const { problems } = yield* verifyContents(sql)
        return yield* new Found({ withoutAnchor: [], found: problems })
      })
      const { found } = yield* sql.withTransaction(tamper).pipe(Effect.catchTag("Found", Effect.succeed))
      assert.include(found, problem)
    })
  )
})

describe("another ledger in place of the anchored one", () => {
  const expectRefusal = Effect.fnUntraced(function* (folder: string) {
    const { anchor, place } = yield* originals
    const sql = yield* moveToDatabase(folder)
    const error = yield* Effect.flip(Effect.scoped(keepDatabaseAnchor(sql, Option.some(place), Effect.void)))
    assert.deepStrictEqual(Option.getOrThrow(yield* place.read), anchor)
    return { message: error.message, problems: (yield* verifyDatabase(sql, anchor)).problems.join("; ") }
  })

  it.live("is refused by a start, and never replaces the anchor: an older copy", () =>
    Effect.gen(function* () {
      const { older } = yield* originals
      const { message, problems } = yield* expectRefusal(yield* copyToNewFolder(older))
      assert.match(message, /does not pass through its anchor at .*: its chain ends at entry 39 and record 5/)
      assert.match(problems, /was anchored at entry 62 and record 7, and ends at entry 39 and record 5/)
    }).pipe(Effect.scoped)
  )

  it.live("is refused by a start, and never replaces the anchor: one with as many entries and more records", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* writeGroups(folder, sampleGroups())
      const sql = yield* moveToDatabase(folder)
      const { anchor, place } = yield* originals
      for (const id of ["1", "2", "3"]) {
        yield* sql.unsafe(
          "insert into console.payment (id, account_id, kind, cents, state, processor, created_at) values ($1, 'acct_a', 'top_up', 1, 'open', 'stripe', '2026-10-30T00:00:00.000Z')",
          [id]
        )
      }
      const error = yield* Effect.flip(Effect.scoped(keepDatabaseAnchor(sql, Option.some(place), Effect.void)))
      assert.match(error.message, /does not pass through its anchor at .*: its chain is a different one/)
      assert.deepStrictEqual(Option.getOrThrow(yield* place.read), anchor)
    }).pipe(Effect.scoped)
  )
})
