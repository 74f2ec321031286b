/**
 * What each event changes: the balance, the saved card, auto-recharge, the notice on the pages, and whether it starts a
 * recharge. The table is in docs/payments.md.
 */
import { readFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { pauseMs } from "@larder/serve/billing/recharges/limits.ts"
import { maxRequestMs } from "@larder/serve/billing/retry-or-expire.ts"
import { Effect, type Scope } from "effect"
import { repository } from "../support/repository.ts"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { advanceToNoon, spendAndMark } from "./recharging.ts"
import { inEachStripeSetup, type StripeSetup, until, withQuickSleeps, withSleepsByClock } from "./setup.ts"

type OpenBilling = Billing["Service"]

interface Prepared {
  readonly setup: StripeSetup
  readonly billing: OpenBilling
  /** The payment of 50 USD that saved the card. */
  readonly payment: string
}

const choice = rechargeChoice({ cents: 20_00, trigger_credits: 30_000 })
/** Below the trigger, by calls that did not mark the account: only the event can start a recharge. */
const lowBalance = 15_000
/** Above the trigger. */
const highBalance = 55_000

/** With a saved card, and auto-recharge of 20 USD below 30,000 credits. */
const prepare = Effect.fnUntraced(function* (setup: StripeSetup, billing: OpenBilling, startingBalance = lowBalance) {
  const payment = yield* setup.buy(billing, 50_00, "good")
  yield* saveRecharge(billing, setup.account_id, choice)
  yield* setup.evaluated // before the balance is below the trigger
  if (startingBalance < highBalance) yield* setup.spend(highBalance - startingBalance)
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
    yield* prepared.setup.harness.closeDispute(id, outcome)
    yield* sendEvent(prepared, prepared.payment)
  })

const debit = ({ setup: { account_id, administration } }: Prepared, credits: number) =>
  administration.debitAccount({ account_id, credits, note: "credited by mistake" })

interface Row {
  /** Above the trigger only if the event is about its crossing. */
  readonly starting_balance: number
  /** The change of the balance. */
  readonly balance: number
  readonly card: string | null
  readonly auto_recharge: "on" | "off"
  readonly notice: RegExp | null
  readonly recharges: number
}

const unchanged: Row = {
  starting_balance: lowBalance,
  balance: 0,
  card: "visa",
  auto_recharge: "on",
  notice: null,
  recharges: 0
}
const time = String.raw`\d{1,2} \w+ \d{4}, \d\d:\d\d UTC`
const refunded = new RegExp(String.raw`^A payment was refunded: \$50\.00, recorded on ${time}\.$`)
const disputed = new RegExp(String.raw`^A payment was disputed at the bank: \$50\.00, recorded on ${time}\.$`)

const readRow = Effect.fnUntraced(function* ({ billing, setup }: Prepared, startingBalance: number, recharges: number) {
  const { card, recharge } = yield* billing.settings(setup.account_id)
  const stop = yield* billing.rechargeStop(setup.account_id)
  assert.strictEqual(stop ?? null, recharge.off_reason)
  return {
    starting_balance: startingBalance,
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

/** Named like the events in docs/payments.md. */
const events: ReadonlyArray<
  readonly [event: string, happen: (prepared: Prepared) => Effect.Effect<unknown, unknown>, row: Row]
> = [
  [
    "charged call",
    ({ billing, setup }) => spendAndMark(setup, billing, 10),
    { ...unchanged, balance: 19_990, recharges: 1 }
  ],
  ["payment", ({ billing, setup }) => setup.buy(billing, 10_00, "good"), { ...unchanged, balance: 10_000 }],
  [
    "payment with the saved card",
    ({ billing, setup }) =>
      Effect.flatMap(setup.formWithSavedCard(billing, 10_00), ({ request }) => billing.topUp(request)),
    { ...unchanged, balance: 10_000 }
  ],
  [
    "declined payment",
    ({ billing, setup }) =>
      setup.buy(billing, 10_00, "declined_later").pipe(
        Effect.andThen(setup.formWithSavedCard(billing, 10_00)),
        Effect.flatMap(({ request }) => billing.topUp(request))
      ),
    { ...unchanged, balance: 10_000 }
  ],
  [
    "payment page left unpaid",
    ({ billing, setup }) => {
      const { request, sent } = setup.form(10_00)
      return Effect.andThen(
        billing.topUp(request),
        Effect.suspend(() => billing.leave(setup.account_id, sent.payment_id))
      )
    },
    unchanged
  ],
  [
    "declined recharge",
    ({ billing, setup }) =>
      setup
        .buy(billing, 10_00, "declined_later")
        .pipe(
          Effect.andThen(spendAndMark(setup, billing, 10)),
          Effect.andThen(until(Effect.map(billing.settings(setup.account_id), ({ recharge }) => !recharge.is_on)))
        ),
    {
      ...unchanged,
      balance: 9_990,
      auto_recharge: "off",
      notice: new RegExp(
        String.raw`^A recharge of \$20\.00 with Visa ending in \d{4} failed on ${time}\. The card was declined\.$`
      ),
      recharges: 1
    }
  ],
  ["refund", refund, { ...unchanged, balance: -50_000, auto_recharge: "off", notice: refunded }],
  [
    "failed refund",
    (prepared) =>
      Effect.gen(function* () {
        yield* prepared.setup.harness.failRefund(prepared.payment, yield* refund(prepared))
        yield* sendEvent(prepared, prepared.payment)
      }),
    { ...unchanged, auto_recharge: "off", notice: refunded }
  ],
  ["opened dispute", dispute, { ...unchanged, balance: -50_000, auto_recharge: "off", notice: disputed }],
  ["won dispute", close("won"), { ...unchanged, auto_recharge: "off", notice: disputed }],
  ["lost dispute", close("lost"), { ...unchanged, balance: -50_000, auto_recharge: "off", notice: disputed }],
  [
    "credit by hand",
    ({ setup: { account_id, administration } }) =>
      administration.creditAccount({ account_id, credits: 7_000, note: "apology" }),
    { ...unchanged, balance: 7_000 }
  ],
  [
    "debit by hand, balance at or above the trigger",
    (prepared) => debit(prepared, 25_000),
    { ...unchanged, starting_balance: highBalance, balance: -25_000 }
  ],
  [
    "debit by hand, balance below the trigger",
    (prepared) => debit(prepared, 25_001),
    {
      ...unchanged,
      starting_balance: highBalance,
      balance: -25_001,
      auto_recharge: "off",
      notice: new RegExp(String.raw`^The operator deducted \$25\.001, recorded on ${time}\.$`)
    }
  ],
  [
    "saved card",
    ({ billing, setup }) => setup.buy(billing, 10_00, "mastercard"),
    { ...unchanged, balance: 10_000, card: "mastercard" }
  ],
  [
    "removed card",
    ({ billing, setup }) => billing.removeCard(setup.account_id),
    { ...unchanged, card: null, auto_recharge: "off" }
  ],
  [
    "last key revoked",
    ({ setup: { account_id, administration } }) =>
      Effect.flatMap(administration.listKeys({ account_id }), (keys) =>
        Effect.forEach(keys, ({ id }) => administration.revokeKey({ key_id: id }))
      ),
    unchanged
  ],
  [
    "settings saved as off",
    ({ billing, setup }) => saveRecharge(billing, setup.account_id, { ...choice, is_on: false }),
    { ...unchanged, auto_recharge: "off" }
  ],
  [
    "settings saved as on",
    ({ billing, setup }) => saveRecharge(billing, setup.account_id, choice),
    { ...unchanged, balance: 20_000, recharges: 1 }
  ]
]
/** Events that end the server or take time. */
const laterEvents = ["recharge that never reached the processor", "end of the pause", "restart", "UTC day begins"]

describe("the table of events in docs/payments.md", () => {
  it("has a row for each of these tests, in this order", () => {
    const [, table = ""] = readFileSync(path.join(repository, "docs/payments.md"), "utf8").split(
      "| --- | --- | --- | --- | --- | --- |\n"
    )
    const names = table
      .split("\n\n", 1)[0]
      ?.split("\n")
      .map((row) => row.split("|")[1]?.trim())
    assert.deepStrictEqual(names, [...events.map(([event]) => event), ...laterEvents])
  })
})

inEachStripeSetup((name, withSetup) => {
  const within = <A, E>(work: (setup: StripeSetup) => Effect.Effect<A, E, Scope.Scope>) =>
    withSetup((setup) => withQuickSleeps(work(setup)))
  describe.concurrent(`events with ${name}`, () => {
    it.live.each(events)("%s", ([_event, happen, row]) =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const prepared = yield* prepare(setup, billing, row.starting_balance)
            yield* happen(prepared)
            if (row.recharges > 0) {
              yield* until(Effect.map(setup.balance, (balance) => balance === row.starting_balance + row.balance))
            }
            yield* setup.evaluated
            checkRow(yield* readRow(prepared, row.starting_balance, yield* countRecharges(prepared)), row)
          })
        )
      )
    )

    it.live("restart, end of the pause, UTC day begins: each starts a recharge below the trigger", () =>
      within((setup) =>
        withSleepsByClock(
          Effect.gen(function* () {
            yield* advanceToNoon(setup)
            const { payment } = yield* setup.withBilling((billing) => prepare(setup, billing))
            yield* setup.withBilling((billing) =>
              Effect.gen(function* () {
                const prepared = { setup, billing, payment }
                const checkRecharges = Effect.fnUntraced(function* (recharges: number, balance: number) {
                  yield* until(Effect.map(setup.balance, (credits) => credits === lowBalance + balance))
                  yield* setup.evaluated
                  const row = yield* readRow(prepared, lowBalance, yield* countRecharges(prepared))
                  checkRow(row, { ...unchanged, balance, recharges })
                })
                yield* checkRecharges(1, 20_000)
                yield* spendAndMark(setup, billing, 20_000)
                yield* setup.evaluated
                yield* checkRecharges(1, 0)
                yield* setup.advanceClock(pauseMs)
                yield* checkRecharges(2, 20_000)
                yield* setup.spend(20_000)
                yield* setup.evaluated
                yield* checkRecharges(2, 0)
                yield* setup.advanceClock(12 * 3_600_000) // from noon to midnight
                yield* checkRecharges(3, 20_000)
                yield* setup.checkBooks
              })
            )
          })
        )
      )
    )

    it.live("recharge that never reached the processor: another one starts when it has expired", () =>
      within((setup) =>
        Effect.gen(function* () {
          const { payment } = yield* setup.withBilling((billing) =>
            Effect.gen(function* () {
              const prepared = yield* prepare(setup, billing)
              yield* setup.harness.outage(true)
              billing.charged(setup.account_id)
              yield* until(Effect.map(countRecharges(prepared), (recharges) => recharges === 1))
              yield* setup.evaluated
              return prepared
            })
          )
          yield* setup.advanceClock(maxRequestMs)
          yield* setup.harness.outage(false)
          yield* setup.withBilling((billing) =>
            Effect.gen(function* () {
              const prepared = { setup, billing, payment }
              yield* until(Effect.map(setup.balance, (balance) => balance === lowBalance + 20_000))
              yield* setup.evaluated
              const row = yield* readRow(prepared, lowBalance, yield* countRecharges(prepared))
              checkRow(row, { ...unchanged, balance: 20_000, recharges: 1 })
              yield* setup.checkBooks
            })
          )
        })
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
                  const prepared = yield* prepare(setup, billing, row.starting_balance)
                  yield* happen(prepared)
                  return prepared.payment
                })
              )
              yield* setup.withBilling((billing) =>
                Effect.gen(function* () {
                  const prepared = { setup, billing, payment }
                  for (let call = 0; call < 5; call++) billing.charged(setup.account_id)
                  yield* setup.evaluated
                  yield* setup.passDay
                  assert.strictEqual(yield* countRecharges(prepared), row.recharges)
                  const { off_reason } = (yield* billing.settings(setup.account_id)).recharge
                  assert.match(off_reason ?? "", row.notice ?? /^$/)
                  const { recharge } = yield* saveRecharge(billing, setup.account_id, choice)
                  assert.deepInclude(recharge, { is_on: true, off_reason: null })
                  yield* setup.evaluated
                  assert.strictEqual(yield* countRecharges(prepared), row.recharges + 1)
                })
              )
            })
          )
        )
    )
  })
})
