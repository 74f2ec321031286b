import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Payment } from "../../billing/index.ts"
import { paymentsTable } from "./payment-pieces.ts"

const paid: Payment = {
  id: "pay_1",
  kind: "top_up",
  cents: 50_00,
  credits: 50_000,
  state: "succeeded",
  problem: null,
  card: { brand: "visa", last4: "4242" },
  created_at: "2026-11-21T23:59:00.000Z",
  settled_at: "2026-11-22T08:15:00.000Z",
  is_simulated: true,
  reversals: []
}
const renderTable = (payment: Payment) => Effect.promise(async () => String(await paymentsTable([payment])))

describe("the list of payments", () => {
  it.effect("shows when a payment was settled, not when it was started", () =>
    Effect.gen(function* () {
      const text = yield* renderTable(paid)
      assert.include(text, "22 Nov 2026, 08:15:00")
      assert.notInclude(text, "21 Nov 2026")
    })
  )
  it.effect("shows when an open payment was started", () =>
    Effect.gen(function* () {
      assert.include(yield* renderTable({ ...paid, state: "open", settled_at: null }), "21 Nov 2026, 23:59:00")
    })
  )
  it.effect("shows how much was returned, without a refund that failed", () =>
    Effect.gen(function* () {
      const refund = { id: "re_1", kind: "refund", cents: 20_00, is_lost: false, changed_at: paid.created_at } as const
      const text = yield* renderTable({ ...paid, reversals: [{ ...refund, state: "taken" }] })
      assert.include(text, "$50.00<br><small>$20.00 returned</small>")
      assert.notInclude(yield* renderTable({ ...paid, reversals: [{ ...refund, state: "returned" }] }), "<small>")
    })
  )
  it.effect("distinguishes an open dispute from one that the cardholder has won", () =>
    Effect.gen(function* () {
      const disputed = (id: string, is_lost: boolean) =>
        ({ id, kind: "dispute", cents: 25_00, state: "taken", is_lost, changed_at: paid.created_at }) as const
      const states = [
        [[disputed("dp_1", false)], "Disputed"],
        [[disputed("dp_1", true), disputed("dp_2", false)], "Disputed"],
        [[disputed("dp_1", true)], "Charged back"]
      ] as const
      for (const [reversals, state] of states) assert.include(yield* renderTable({ ...paid, reversals }), `>${state}</`)
    })
  )
})
