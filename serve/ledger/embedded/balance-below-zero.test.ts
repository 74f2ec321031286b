import { cpSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  append,
  aRefund,
  author,
  load,
  opened,
  refusal,
  sampleGroups,
  takeSnapshot,
  temporaryFolder,
  written
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import type { Draft, Group } from "../machine.ts"

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

  /** What a kill leaves that comes after these groups: they are in the journal. */
  const killed = Effect.fnUntraced(function* (folder: string, groups: ReadonlyArray<Group>) {
    const left = path.join(yield* temporaryFolder, "killed")
    const copy = Effect.sync(() => cpSync(folder, left, { recursive: true }))
    yield* opened(folder, (store) => Effect.andThen(append(store, groups), copy))
    return left
  })

  const goneBy: ReadonlyArray<readonly [string, Draft]> = [
    ["a refund", moved(-5_000)],
    ["a dispute", moved(-5_000, { type: "adjustment" })]
  ]
  it.live.each(goneBy)("takes a balance that went below 0 by %s and by a call that was admitted before", ([, out]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const groups = grown(
        out,
        inFlight,
        moved(100, { type: "top_up", request_id: "pay_1" }),
        moved(-1, { request_id: "re_2" })
      )
      const balanceIn = (place: string) => Effect.map(load(place), ({ accounts }) => accounts[0]?.head.balance)
      assert.strictEqual(yield* balanceIn(yield* killed(yield* temporaryFolder, groups)), -311)
      yield* written(folder, groups.slice(0, -2))
      assert.strictEqual(yield* balanceIn(folder), -410)
      yield* takeSnapshot(folder)
      const left = yield* killed(folder, groups.slice(-2)) // money went out before the snapshot
      assert.strictEqual(yield* balanceIn(left), -311)
      yield* takeSnapshot(left)
      assert.strictEqual(yield* balanceIn(left), -311)
    }).pipe(Effect.scoped)
  )

  it.live("knows which refund was booked", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* written(folder, grown(moved(-5_000), inFlight, aRefund(inFlight)))
      yield* takeSnapshot(folder)
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
  it.live.each(refusals)("refuses a balance below 0 where %s", ([, drafts, problem]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const left = yield* killed(folder, grown(...drafts))
      assert.match((yield* refusal(left)).message, problem)
      assert.match((yield* refusal(folder)).message, problem)
    }).pipe(Effect.scoped)
  )
})
