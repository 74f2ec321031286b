import { cpSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  append,
  aRefund,
  load,
  makeWriter,
  refusal,
  sampleGroups,
  temporaryFolder,
  updateDerivedTables,
  useStore,
  writeGroups
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import type { Draft } from "../chain/chain.ts"
import type { Group } from "../rules/ledger-state.ts"

describe("a start with a negative balance", () => {
  const makeMovement = (credits: number, entry: Partial<Draft> = {}): Draft => ({
    ...aCharge("re_1", { credits, key_id: null, endpoint: null, budget_credits: null, note: "refund" }),
    type: "refund",
    ...entry
  })
  const extendSample = (...drafts: ReadonlyArray<Draft>) => {
    const write = makeWriter()
    return [...sampleGroups(write), ...drafts.map((draft) => write({ entries: [draft] }))]
  }
  const inFlight = aCharge("req_63", { occurred_at: "2026-11-01T00:00:00.000Z" })

  /** The folder of a ledger that was killed after these groups. */
  const writeAndKill = Effect.fnUntraced(function* (folder: string, groups: ReadonlyArray<Group>) {
    const killed = path.join(yield* temporaryFolder, "killed")
    const copy = Effect.sync(() => cpSync(folder, killed, { recursive: true }))
    yield* useStore(folder, (store) => Effect.andThen(append(store, groups), copy))
    return killed
  })

  it.live("accepts a negative balance after a refund or a dispute, and a call that was admitted before", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const accountB = { account_id: "acct_b" }
      const groups = extendSample(
        makeMovement(-5_000),
        inFlight,
        makeMovement(-5_000, { ...accountB, type: "adjustment", request_id: "dispute_1" }),
        { ...inFlight, ...accountB, key_id: "key_b", request_id: "req_64" },
        makeMovement(100, { type: "top_up", request_id: "pay_1" }),
        makeMovement(-1, { request_id: "re_2" }),
        makeMovement(-1, { ...accountB, request_id: "re_3" })
      )
      const readBalances = (folder: string) =>
        Effect.map(load(folder), ({ accounts }) => accounts.map(({ head }) => head.balance))
      assert.deepStrictEqual(yield* readBalances(yield* writeAndKill(yield* temporaryFolder, groups)), [-311, -211])
      yield* writeGroups(folder, groups.slice(0, -3))
      assert.deepStrictEqual(yield* readBalances(folder), [-410, -210])
      yield* updateDerivedTables(folder)
      const killed = yield* writeAndKill(folder, groups.slice(-3)) // the tables include the refunds and disputes
      assert.deepStrictEqual(yield* readBalances(killed), [-311, -211])
      yield* updateDerivedTables(killed)
      assert.deepStrictEqual(yield* readBalances(killed), [-311, -211])
    }).pipe(Effect.scoped)
  )

  it.live("does not book a refund twice", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* writeGroups(folder, extendSample(makeMovement(-5_000), inFlight, aRefund(inFlight)))
      yield* updateDerivedTables(folder)
      const { booked } = yield* load(folder)
      assert.deepStrictEqual(booked, [{ account_id: "acct_a", type: "refund", reference: "re_1" }])
    }).pipe(Effect.scoped)
  )

  const refusals: ReadonlyArray<readonly [string, ReadonlyArray<Draft>, RegExp]> = [
    [
      "more was charged than refunded",
      [makeMovement(-20), { ...inFlight, credits: -4_620, budget_credits: 9_000 }],
      /entry 43 of account acct_a( \(number 64\))? leaves a balance of -40 credits/
    ],
    [
      "the refund comes after the charge",
      [{ ...inFlight, credits: -4_620, budget_credits: 9_000 }, makeMovement(-5_000)],
      /entry 42 of account acct_a( \(number 63\))? leaves a balance of -20 credits/
    ],
    [
      "an entry of another type deducted the credits",
      [makeMovement(-5_000, { type: "top_up" })],
      /entry 42 of account acct_a( \(number 63\))? leaves a balance of -400 credits/
    ],
    [
      "the refund is for another account",
      [makeMovement(-20, { account_id: "acct_b" }), { ...inFlight, credits: -4_620, budget_credits: 9_000 }],
      /entry 42 of account acct_a( \(number 64\))? leaves a balance of -20 credits/
    ]
  ]
  it.live.each(refusals)("refuses a negative balance if %s", ([, drafts, problem]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const killed = yield* writeAndKill(folder, extendSample(...drafts))
      assert.match((yield* refusal(killed)).message, problem)
      assert.match((yield* refusal(folder)).message, problem)
    }).pipe(Effect.scoped)
  )
})
