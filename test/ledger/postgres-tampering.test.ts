/** Entries in PostgreSQL that no server writes, and a chain that begins at a stored head. */
import type { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { connect, moveToPostgres, openPostgresLedger } from "@larder/serve/ledger"
import { verifyContents } from "@larder/serve/ledger/postgres/verification.ts"
import { Effect, Redacted, Schema } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { sampleGroups, temporaryFolder, writeGroups } from "../support/serve/sample-ledger.ts"
import { database } from "./shared-ledger.ts"

const sampleDatabase = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  yield* writeGroups(folder, sampleGroups())
  const url = Redacted.make(yield* database)
  yield* moveToPostgres(folder, url)
  return { folder, url, sql: yield* connect(url) }
})

const run = (sql: PgClient.PgClient, statements: string) =>
  Effect.forEach(statements.split(";"), (statement) => sql.unsafe(statement), { discard: true })

/** Thrown to roll back the changes. */
class Found extends Schema.TaggedError<Found>()("Found", { problems: Schema.Array(Schema.String) }) {}

const sound = oncePerFile(sampleDatabase)

/** What a verification finds after a change, which is rolled back. */
const problemsAfter = Effect.fnUntraced(function* (statements: string) {
  const { sql } = yield* sound
  const tamper = Effect.gen(function* () {
    yield* run(sql, statements)
    return yield* new Found({ problems: (yield* verifyContents(sql)).problems })
  })
  return (yield* sql.withTransaction(tamper).pipe(Effect.catchTag("Found", Effect.succeed))).problems
})

const first = "where account_id = 'acct_a' and position = 1"

describe("an entry in PostgreSQL that no server writes", () => {
  it.live.each([
    [`update ledger.entry set occurred_at = 'infinity' ${first}`, "its hash does not match"],
    [`update ledger.entry set occurred_at = occurred_at - interval '4051 years' ${first}`, "its hash does not match"],
    [
      `update ledger.entry set occurred_at = occurred_at + interval '1 microsecond' ${first}`,
      "its hash does not match"
    ],
    [
      `alter table ledger.entry alter column type drop not null; update ledger.entry set type = null ${first}`,
      "its hash does not match"
    ],
    [`update ledger.entry set request_id = '' ${first}`, "a field is empty"]
  ] as const)("is reported: %s", ([statements, problem]) =>
    Effect.gen(function* () {
      const problems = yield* problemsAfter(statements)
      assert.include(problems, `entry 1 of account acct_a is not what was written: ${problem}`)
    })
  )
})

/** Archives October, with all that is derived from its entries. */
const archiveOctober = `
  insert into ledger.chain_start
    select distinct on (account_id) account_id, position, balance, hash
    from ledger.entry
    where occurred_at < '2026-11-01Z'
    order by account_id, position desc;
  delete from ledger.entry where occurred_at < '2026-11-01Z';
  delete from ledger.spent_in_month where month < 2026 * 12 + 10;
  delete from ledger.usage_of_day where day < '2026-11-01';
  delete from ledger.usage_of_endpoint where day < '2026-11-01';
  delete from ledger.usage_of_month where month < 2026 * 12 + 10`

describe("a chain in PostgreSQL that begins at a stored head", () => {
  it.live("is verified from there, also for an account without later entries", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsAfter(archiveOctober), [])
      const withoutB = "delete from ledger.entry where account_id = 'acct_b' and occurred_at >= '2026-11-01Z'"
      const headOfB = `update ledger.account set (position, balance, hash) = (
          select position, balance, hash from ledger.chain_start where account_id = 'acct_b'
        )
        where id = 'acct_b'`
      const usageOfB = `delete from ledger.spent_in_month where key_id = 'key_b';
        delete from ledger.usage_of_day where account_id = 'acct_b';
        delete from ledger.usage_of_endpoint where account_id = 'acct_b';
        delete from ledger.usage_of_month where account_id = 'acct_b'`
      const archived = `${archiveOctober}; ${withoutB}; ${headOfB}; ${usageOfB}`
      assert.deepStrictEqual(yield* problemsAfter(archived), [])
    })
  )

  it.live("is reported if it does not follow that head", () =>
    Effect.gen(function* () {
      const wrongBalance = "update ledger.chain_start set balance = balance + 1 where account_id = 'acct_a'"
      assert.deepStrictEqual(yield* problemsAfter(`${archiveOctober}; ${wrongBalance}`), [
        "entry 34 of account acct_a has a balance of 4670 credits, but the entries up to it add up to 4671",
        "all balances add up to 9400 credits, but all entries to 9401"
      ])
      const wrongHash = "update ledger.chain_start set hash = 'x' where account_id = 'acct_a'"
      assert.deepStrictEqual(yield* problemsAfter(`${archiveOctober}; ${wrongHash}`), [
        "entry 34 of account acct_a is not what was written: its hash does not match"
      ])
    })
  )

  it.live("is opened and backed up from there", () =>
    Effect.gen(function* () {
      const { folder, sql, url } = yield* sampleDatabase
      yield* run(sql, archiveOctober)
      const ledger = yield* openPostgresLedger(url, folder)
      yield* ledger.administration.creditAccount({ account_id: "acct_a", credits: 1, note: "one more" })
      const { balance_credits, problems } = yield* ledger.administration.verify({})
      assert.deepStrictEqual({ balance_credits, problems }, { balance_credits: 9_401, problems: [] })
      const file = `${yield* temporaryFolder}/ledger.sqlite`
      assert.strictEqual((yield* ledger.administration.backup({ file })).entries, 13)
    }).pipe(Effect.scoped)
  )
})
