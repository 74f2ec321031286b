import { assert, describe, it } from "@effect/vitest"
import { aKey, author, load, temporaryFolder, written } from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import fc from "fast-check"
import { Line } from "../administration.ts"
import { openAccount } from "../decisions.ts"
import { entryTypes } from "../records.ts"

describe("the hash that DuckDB computes", () => {
  const text = fc.string({ unit: "binary", maxLength: 20 }).filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text))
  const moment = fc
    .date({ min: new Date("1970-01-01"), max: new Date("2999-12-31"), noInvalidDate: true })
    .map((date) => date.toISOString())
  /** An entry that carries a key counts for its usage, and there it has an endpoint. */
  const called = fc.oneof(
    fc.constant({ account_id: "acct_b", key_id: null, endpoint: null }),
    fc.record({ account_id: fc.constant("acct_a"), key_id: text, endpoint: text })
  )
  const rest = fc.record({
    type: fc.constantFrom(...entryTypes.filter((type) => type !== "charge")),
    occurred_at: moment,
    credits: fc.nat(1e9),
    budget_credits: fc.option(fc.nat(1e12)),
    request_id: fc.option(text),
    note: fc.option(text)
  })
  const draft = fc.tuple(called, rest).map(([call, others]) => ({ ...call, ...others }))

  it.live("equals the written hash for each of 2,000 random entries", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const write = author()
      const drafts = fc.sample(draft, { numRuns: 2_000, seed: 20_261_030 })
      const births = [openAccount("acct_a", "A", 0), openAccount("acct_b", "B", 0)]
      const keyIds = new Set(drafts.flatMap(({ key_id }) => key_id ?? []))
      const keys = Array.from(keyIds, (id) => aKey(id, "acct_a"))
      yield* written(folder, [...births, { keys }, { entries: drafts }].map(write))
      assert.strictEqual((yield* load(folder)).sequence, 2_002)
    }).pipe(Effect.scoped)
  )

  it.each(["\ud800", "half \udc00 a pair", "line\nbreak", "\u0000", "  "])(
    "never has to handle the note %j, which is rejected before",
    (note) => {
      assert.throws(() => Line.make(note))
    }
  )
})
