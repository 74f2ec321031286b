/**
 * What each event changes: the balance, the saved card, auto-recharge, the notice on the pages, and whether it starts a
 * recharge. The table is in docs/payments.md.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { Clock, Effect, type Scope } from "effect"
import { rechargeChoice } from "../support/serve/recharge-choice.ts"
import { pauseMs, severalRounds, spendAndMark } from "./recharging.ts"
import { inEachSetup, type Setup, until, withQuickSleeps, withSleepsByClock } from "./setup.ts"

type OpenBilling = Billing["Service"]

interface Prepared {
  readonly setup: Setup
  readonly billing: OpenBilling
  /** The payment of 50 USD that saved the card. */
  readonly payment: string
}

const trigger_credits = 30_000
const startingBalance = 55_000

/** With 55,000 credits, a saved card, and auto-recharge of 20 USD below 30,000 credits. */
const prepare = Effect.fnUntraced(function* (setup: Setup, billing: OpenBilling) {
  const payment = yield* setup.buy(billing, 50_00, "good")
  yield* billing.saveRecharge(setup.account_id, rechargeChoice({ cents: 20_00, trigger_credits }))
  return { setup, billing, payment } satisfies Prepared
})

const sendEvent = ({ billing, setup }: Prepared, payment_id: string) =>
  Effect.flatMap(setup.harness.event(payment_id), ({ body, header }) => billing.webhook(body, header))

const refund = Effect.fnUntraced(function* (prepared: Prepared) {
  const id = yield* prepared.setup.harness.refund(prepared.payment, null)
  yield* sendEvent(prepared, prepared.payment)
  return id
})

const dispute = Effect.fnUntraced(function* (prepared: Prepared) {
  const id = yield* prepared.setup.harness.dispute(prepared.payment)
  yield* sendEvent(prepared, prepared.payment)
  return id
})

const close = (outcome: "won" | "lost") =>
  Effect.fnUntraced(function* (prepared: Prepared) {
    const id = yield* dispute(prepared)
    yield* prepared.setup.harness.closeDispute(prepared.payment, id, outcome)
    yield* sendEvent(prepared, prepared.payment)
  })

const debit = ({ setup: { account_id, administration } }: Prepared, credits: number) =>
  administration.book({
    account_id,
    type: "adjustment",
    credits: -credits,
    reference: "debit:1",
    note: "credited by mistake"
  })

interface Row {
  readonly balance: number
  readonly card: string | null
  readonly auto_recharge: "on" | "off"
  readonly notice: RegExp | null
  readonly recharges: number
}

const unchanged: Row = { balance: 0, card: "visa", auto_recharge: "on", notice: null, recharges: 0 }
const time = String.raw`\d{1,2} \w+ \d{4}, \d\d:\d\d UTC`
const refunded = new RegExp(String.raw`^A payment was refunded: \$50\.00 on ${time}\.$`)
const disputed = new RegExp(String.raw`^A payment was disputed at the bank: \$50\.00 on ${time}\.$`)

const readRow = Effect.fnUntraced(function* ({ billing, setup }: Prepared, recharges: number) {
  const { card, recharge } = yield* billing.settings(setup.account_id)
  const stop = yield* billing.rechargeStop(setup.account_id)
  assert.strictEqual(stop ?? null, recharge.off_reason)
  return {
    balance: (yield* setup.balance) - startingBalance,
    card: card?.brand ?? null,
    auto_recharge: recharge.is_on ? "on" : "off",
    notice: recharge.off_reason,
    recharges
  }
})

const checkRow = (found: Effect.Success<ReturnType<typeof readRow>>, { notice, ...expected }: Row) => {
  assert.deepStrictEqual({ ...found, notice: undefined }, { ...expected, notice: undefined })
  if (notice === null) assert.isNull(found.notice)
  else assert.match(found.notice ?? "", notice)
}

/** A server that stops between its claim and its check leaves a recharge that is never requested, and expires. */
const countRecharges = ({ billing, setup }: Prepared) =>
  Effect.map(
    billing.payments(setup.account_id, { before: null, limit: 100 }),
    (payments) => payments.filter(({ kind, state }) => kind === "auto_recharge" && state !== "expired").length
  )

const events: ReadonlyArray<
  readonly [event: string, happen: (prepared: Prepared) => Effect.Effect<unknown, unknown>, row: Row]
> = [
  [
    "a charged call",
    ({ billing, setup }) => spendAndMark(setup, billing, 25_010),
    { ...unchanged, balance: -5_010, recharges: 1 }
  ],
  ["a payment", ({ billing, setup }) => setup.buy(billing, 10_00, "good"), { ...unchanged, balance: 10_000 }],
  [
    "a payment with the saved card",
    ({ billing, setup }) =>
      Effect.flatMap(setup.formWithSavedCard(billing, 10_00), ({ request }) => billing.topUp(request)),
    { ...unchanged, balance: 10_000 }
  ],
  ["a decline of a payment", ({ billing, setup }) => setup.buy(billing, 10_00, "declined"), unchanged],
  [
    "a decline of a recharge",
    ({ billing, setup }) =>
      setup
        .buy(billing, 10_00, "declined_later")
        .pipe(
          Effect.andThen(spendAndMark(setup, billing, 35_010)),
          Effect.andThen(until(Effect.map(billing.settings(setup.account_id), ({ recharge }) => !recharge.is_on)))
        ),
    {
      balance: -25_010,
      card: "visa",
      auto_recharge: "off",
      notice: new RegExp(
        String.raw`^A recharge of \$20\.00 with Visa ending in \d{4} failed on ${time}\. The card was declined\.`
      ),
      recharges: 1
    }
  ],
  ["a refund", refund, { ...unchanged, balance: -50_000, auto_recharge: "off", notice: refunded }],
  [
    "a failed refund",
    (prepared) =>
      Effect.gen(function* () {
        yield* prepared.setup.harness.failRefund(prepared.payment, yield* refund(prepared))
        yield* sendEvent(prepared, prepared.payment)
      }),
    { ...unchanged, auto_recharge: "off", notice: refunded }
  ],
  ["an opened dispute", dispute, { ...unchanged, balance: -50_000, auto_recharge: "off", notice: disputed }],
  ["a won dispute", close("won"), { ...unchanged, auto_recharge: "off", notice: disputed }],
  ["a lost dispute", close("lost"), { ...unchanged, balance: -50_000, auto_recharge: "off", notice: disputed }],
  [
    "a credit by hand",
    ({ setup: { account_id, administration } }) =>
      administration.creditAccount({ account_id, credits: 7_000, note: "apology" }),
    { ...unchanged, balance: 7_000 }
  ],
  [
    "a debit by hand that takes the balance below the trigger",
    (prepared) => debit(prepared, 25_001),
    {
      ...unchanged,
      balance: -25_001,
      auto_recharge: "off",
      notice: new RegExp(String.raw`^The operator deducted \$25\.001 on ${time}\.$`)
    }
  ],
  ["a debit by hand above the trigger", (prepared) => debit(prepared, 25_000), { ...unchanged, balance: -25_000 }],
  [
    "a saved card",
    ({ billing, setup }) => setup.buy(billing, 10_00, "mastercard"),
    { ...unchanged, balance: 10_000, card: "mastercard" }
  ],
  [
    "a removed card",
    ({ billing, setup }) => billing.removeCard(setup.account_id),
    { ...unchanged, card: null, auto_recharge: "off" }
  ],
  [
    "the revocation of the last key",
    ({ setup: { account_id, administration } }) =>
      Effect.flatMap(administration.listKeys({ account_id }), (keys) =>
        Effect.forEach(keys, ({ id }) => administration.revokeKey({ key_id: id }))
      ),
    unchanged
  ]
]

inEachSetup(
  (name, withSetup) => {
    const within = <A, E>(work: (setup: Setup) => Effect.Effect<A, E, Scope.Scope>) =>
      withSetup((setup) => withQuickSleeps(work(setup)))
    describe.concurrent(`events with ${name}`, () => {
      it.live.each(events)("%s", ([_event, happen, row]) =>
        within((setup) =>
          setup.withBilling((billing) =>
            Effect.gen(function* () {
              const prepared = yield* prepare(setup, billing)
              yield* severalRounds
              yield* happen(prepared)
              yield* severalRounds
              checkRow(yield* readRow(prepared, yield* countRecharges(prepared)), row)
              yield* setup.checkBooks
            })
          )
        )
      )

      it.live("a restart, and a day that begins, start a recharge below the trigger", () =>
        within((setup) =>
          withSleepsByClock(
            Effect.gen(function* () {
              const { payment } = yield* setup.withBilling((billing) => prepare(setup, billing))
              yield* setup.spend(30_000)
              yield* setup.withBilling((billing) =>
                Effect.gen(function* () {
                  const prepared = { setup, billing, payment }
                  yield* until(Effect.map(countRecharges(prepared), (recharges) => recharges === 1))
                  yield* severalRounds
                  checkRow(yield* readRow(prepared, yield* countRecharges(prepared)), {
                    ...unchanged,
                    balance: -10_000,
                    recharges: 1
                  })
                  yield* setup.spend(20_000)
                  yield* setup.advanceClock(86_400_000)
                  yield* until(Effect.map(countRecharges(prepared), (recharges) => recharges === 2))
                  yield* severalRounds
                  checkRow(yield* readRow(prepared, 2), { ...unchanged, balance: -10_000, recharges: 2 })
                  yield* setup.checkBooks
                })
              )
            })
          )
        )
      )

      it.live.each(events.filter(([, , { notice }]) => notice !== null))(
        "%s: no call, restart or day starts a recharge afterwards, until a person switches it on",
        ([_event, happen, row]) =>
          within((setup) =>
            withSleepsByClock(
              Effect.gen(function* () {
                const payment = yield* setup.withBilling((billing) =>
                  Effect.gen(function* () {
                    const prepared = yield* prepare(setup, billing)
                    yield* happen(prepared)
                    return prepared.payment
                  })
                )
                yield* setup.withBilling((billing) =>
                  Effect.gen(function* () {
                    const prepared = { setup, billing, payment }
                    if ((yield* setup.balance) > 20_000) yield* setup.spend((yield* setup.balance) - 20_000)
                    for (let call = 0; call < 5; call++) billing.charged(setup.account_id)
                    yield* severalRounds
                    const now = yield* Clock.currentTimeMillis
                    yield* setup.advanceClock(86_400_000 - (now % 86_400_000) + pauseMs)
                    yield* severalRounds
                    assert.strictEqual(yield* countRecharges(prepared), row.recharges)
                    const { off_reason } = (yield* billing.settings(setup.account_id)).recharge
                    assert.match(off_reason ?? "", row.notice ?? /^$/)
                    const choice = rechargeChoice({ cents: 20_00, trigger_credits })
                    const { recharge } = yield* billing.saveRecharge(setup.account_id, choice)
                    assert.deepInclude(recharge, { is_on: true, off_reason: null })
                    yield* until(Effect.map(countRecharges(prepared), (recharges) => recharges === row.recharges + 1))
                  })
                )
              })
            )
          )
      )
    })
  },
  [
    ["Stripe's wire format", "an embedded ledger"],
    ["Stripe's wire format", "PostgreSQL"]
  ]
)
