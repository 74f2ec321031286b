/** What a verification finds after somebody has changed the tables, in both stores; and what it accepts. */
import { assert, describe, it } from "@effect/vitest"
import { openPostgresLedger } from "@larder/serve/ledger"
import { Effect } from "effect"
import { temporaryFolder } from "../../support/serve/sample-ledger.ts"
import { runStatements, type Store, sampleDatabase, shareSoundLedgers } from "./sound-ledgers.ts"
import { tamperedEntries } from "./tampered-entries.ts"
import { archiveOctober, tamperedStarts, tamperedSums } from "./tampered-sums.ts"
import type { Tampering } from "./tampering.ts"

const problemsAfter = shareSoundLedgers()
const rows = [...tamperedEntries, ...tamperedSums, ...tamperedStarts]
const changeFor = ({ change }: Tampering, store: Store) => (typeof change === "string" ? change : change[store])

describe.each(["folder", "postgres"] as const)("a verification of a ledger: %s", (store) => {
  it.live("finds no problem in an unchanged ledger", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsAfter[store](""), [])
    })
  )

  it.live.each(rows.filter((row) => (row.found ?? row[store]) !== undefined))("finds a change of $what", (row) =>
    Effect.gen(function* () {
      const found = yield* problemsAfter[store](changeFor(row, store))
      assert.sameMembers([...found], [...(row.found ?? []), ...(row[store] ?? [])])
    })
  )

  it.live("follows chains that begin at a stored head", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsAfter[store](archiveOctober[store]), [])
    })
  )
})

describe("a ledger in PostgreSQL whose chains begin at a stored head", () => {
  it.live("is verified from there, also for an account without later entries", () =>
    Effect.gen(function* () {
      const withoutLaterEntries = `
        delete from entry where account_id = 'acct_b';
        update account set (position, balance, hash) = (
          select position, balance, hash from chain_start where account_id = 'acct_b'
        )
        where id = 'acct_b';
        delete from spent_in_month where key_id = 'key_b';
        delete from usage_of_day where account_id = 'acct_b';
        delete from usage_of_endpoint where account_id = 'acct_b';
        delete from usage_of_month where account_id = 'acct_b'`
      assert.deepStrictEqual(yield* problemsAfter.postgres(`${archiveOctober.postgres}; ${withoutLaterEntries}`), [])
    })
  )

  it.live("is opened and backed up from there", () =>
    Effect.gen(function* () {
      const { folder, sql, url } = yield* sampleDatabase
      yield* runStatements(sql, archiveOctober.postgres)
      const ledger = yield* openPostgresLedger(url, folder)
      yield* ledger.administration.creditAccount({ account_id: "acct_a", credits: 1, note: "one more" })
      const { balance_credits, problems } = yield* ledger.administration.verify({})
      assert.deepStrictEqual({ balance_credits, problems }, { balance_credits: 9_401, problems: [] })
      const file = `${yield* temporaryFolder}/ledger.sqlite`
      assert.strictEqual((yield* ledger.administration.backup({ file })).entries, 13)
    }).pipe(Effect.scoped)
  )
})
