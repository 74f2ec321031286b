import { cpSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  append,
  aRefund,
  author,
  followUp,
  load,
  opened,
  refusal,
  sampleGroups,
  temporaryFolder,
  written
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import type { Draft } from "../chain/chain.ts"
import type { Group } from "../rules/ledger-state.ts"

describe("a start with a balance below 0", () => {
  const moved = (credits: number, entry: Partial<Draft> = {}): Draft => ({
    ...aCharge("re_1", { credits, key_id: null, endpoint: null, budget_credits: null, note: "money went out" }),
    type: "refund",
    ...entry
  })
  const grown = (...drafts: ReadonlyArray<Draft>) => {
    const write = author()
    return [...sampleGroups(write), ...drafts.map((draft) => write({ entries: [draft] }))]
  }
  const inFlight = aCharge("req_63", { occurred_at: "2026-11-01T00:00:00.000Z" })

  /** The folder that a kill after these groups leaves. */
  const killed = Effect.fnUntraced(function* (folder: string, groups: ReadonlyArray<Group>) {
    const left = path.join(yield* temporaryFolder, "killed")
    const copy = Effect.sync(() => cpSync(folder, left, { recursive: true }))
    yield* opened(folder, (store) => Effect.andThen(append(store, groups), copy))
    return left
  })

  it.live("accepts a balance below 0 after a refund or a dispute, and a call that was admitted before", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ofB = { account_id: "acct_b" }
      const groups = grown(
        moved(-5_000),
        inFlight,
        moved(-5_000, { ...ofB, type: "adjustment", request_id: "dispute_1" }),
        { ...inFlight, ...ofB, key_id: "key_b", request_id: "req_64" },
        moved(100, { type: "top_up", request_id: "pay_1" }),
        moved(-1, { request_id: "re_2" }),
        moved(-1, { ...ofB, request_id: "re_3" })
      )
      const balancesIn = (place: string) =>
        Effect.map(load(place), ({ accounts }) => accounts.map(({ head }) => head.balance))
      assert.deepStrictEqual(yield* balancesIn(yield* killed(yield* temporaryFolder, groups)), [-311, -211])
      yield* written(folder, groups.slice(0, -3))
      assert.deepStrictEqual(yield* balancesIn(folder), [-410, -210])
      yield* followUp(folder)
      const left = yield* killed(folder, groups.slice(-3)) // the tables include the entries of money that went out
      assert.deepStrictEqual(yield* balancesIn(left), [-311, -211])
      yield* followUp(left)
      assert.deepStrictEqual(yield* balancesIn(left), [-311, -211])
    }).pipe(Effect.scoped)
  )

  it.live("does not book a refund twice", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* written(folder, grown(moved(-5_000), inFlight, aRefund(inFlight)))
      yield* followUp(folder)
      const { booked } = yield* load(folder)
      assert.deepStrictEqual(booked, [{ account_id: "acct_a", type: "refund", reference: "re_1" }])
    }).pipe(Effect.scoped)
  )

  const refusals: ReadonlyArray<readonly [string, ReadonlyArray<Draft>, RegExp]> = [
    [
      "more was charged than money went out",
      [moved(-20), { ...inFlight, credits: -4_620, budget_credits: 9_000 }],
      /entry 43 of account acct_a( \(number 64\))? leaves a balance of -40 credits/
    ],
    [
      "money went out only afterwards",
      [{ ...inFlight, credits: -4_620, budget_credits: 9_000 }, moved(-5_000)],
      /entry 42 of account acct_a( \(number 63\))? leaves a balance of -20 credits/
    ],
    [
      "something else took it out",
      [moved(-5_000, { type: "top_up" })],
      /entry 42 of account acct_a( \(number 63\))? leaves a balance of -400 credits/
    ],
    [
      "money went out of another account",
      [moved(-20, { account_id: "acct_b" }), { ...inFlight, credits: -4_620, budget_credits: 9_000 }],
      /entry 42 of account acct_a( \(number 64\))? leaves a balance of -20 credits/
    ]
  ]
  it.live.each(refusals)("refuses a balance below 0 if %s", ([, drafts, problem]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const left = yield* killed(folder, grown(...drafts))
      assert.match((yield* refusal(left)).message, problem)
      assert.match((yield* refusal(folder)).message, problem)
    }).pipe(Effect.scoped)
  )
})
