/**
 * Two servers on one ledger, with random actions of customers, banks and the processor: pages paid and abandoned, forms
 * sent twice, cards removed, recharges switched on and off, refunds, disputes, lost responses, outages, and events sent
 * to both servers. At the end, money received equals credits granted. `LARDER_CRASH_SEED` repeats actions, not timing.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { pauseMs } from "@larder/serve/billing/recharges/limits.ts"
import { Effect } from "effect"
import { type Chance, chanceFrom, newSeed } from "../crash/chance.ts"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { ignoreFailure, type ListedPayment, listPayments } from "./faults.ts"
import { inEachStripeSetup, type StripeSetup, until } from "./setup.ts"

const workers = 4
/** Longer than the lifetime of a payment page. */
const pageExpiryMs = 25 * 3_600_000

type OpenBilling = Billing["Service"]
type Step = Effect.Effect<unknown, unknown>

/** Returns an effect that runs another random step each time. */
const makeRandomStep = (setup: StripeSetup, servers: readonly [OpenBilling, OpenBilling], chance: Chance) => {
  const { account_id, form, formWithSavedCard, spend, harness } = setup
  const forms: Array<ReturnType<typeof form>["request"]> = []
  const disputes: Array<{ readonly payment_id: string; readonly id: string }> = []
  const pickServer = () => chance.oneOf(servers)
  const pickAny = <A>(all: ReadonlyArray<A>): A | undefined => all[chance.between(0, all.length - 1)]
  const runOnBoth = (work: (billing: OpenBilling) => Step): Step =>
    Effect.all(
      servers.map((billing) => ignoreFailure(work(billing))),
      { concurrency: 2 }
    )
  const sendEvent = (id: string): Step =>
    Effect.flatMap(harness.event(id), ({ body, header }) => runOnBoth((billing) => billing.webhook(body, header)))
  const sometimesSendEvent = (id: string): Step => (chance.between(0, 2) === 0 ? Effect.void : sendEvent(id))
  const withPayment = (matches: (payment: ListedPayment) => boolean, work: (id: string) => Step): Step =>
    Effect.flatMap(listPayments(setup), (rows) => {
      const found = pickAny(rows.filter(matches))
      return found === undefined ? Effect.void : work(found.id)
    })
  const isPaid = ({ state }: ListedPayment) => state === "succeeded"
  const amount = () => chance.oneOf([10_00, 25_55])
  const addForm = ({ request }: ReturnType<typeof form>) => {
    forms.push(request)
    return request
  }
  const cards = ["good", "mastercard", "declined", "declined_later", "refunds_fail"] as const

  const steps: readonly [() => Step, ...ReadonlyArray<() => Step>] = [
    () => pickServer().topUp(addForm(form(amount()))),
    () =>
      Effect.flatMap(formWithSavedCard(pickServer(), amount()), (form) => {
        const request = addForm(form)
        return runOnBoth((billing) => billing.topUp(request))
      }),
    () => {
      const request = pickAny(forms)
      return request === undefined ? Effect.void : pickServer().topUp(request)
    },
    () =>
      withPayment(
        ({ card, state }) => state === "open" && card === null,
        (id) => Effect.andThen(harness.pay(id, chance.oneOf(cards)), sometimesSendEvent(id))
      ),
    () =>
      withPayment(isPaid, (id) => Effect.andThen(harness.refund(id, chance.between(1, 5_00)), sometimesSendEvent(id))),
    () =>
      withPayment(isPaid, (id) => Effect.flatMap(harness.refund(id, 1_00), (refund) => harness.failRefund(id, refund))),
    () =>
      withPayment(isPaid, (payment_id) =>
        Effect.flatMap(harness.dispute(payment_id), (id) => {
          disputes.push({ payment_id, id })
          return sometimesSendEvent(payment_id)
        })
      ),
    () => {
      const ended = disputes.shift()
      if (ended === undefined) return Effect.void
      const { id, payment_id } = ended
      const outcome = chance.between(0, 1) === 0 ? "won" : "lost"
      return Effect.andThen(harness.closeDispute(id, outcome), sometimesSendEvent(payment_id))
    },
    () =>
      Effect.tap(spend(chance.oneOf([10, 5_000, 20_000])), () =>
        runOnBoth((billing) => Effect.sync(() => billing.charged(account_id)))
      ),
    () => {
      const trigger_credits = chance.oneOf([1_000, 30_000])
      const choice = rechargeChoice({ is_on: chance.between(0, 2) > 0, cents: 20_00, trigger_credits })
      return Effect.andThen(setup.advanceClock(pauseMs), saveRecharge(pickServer(), account_id, choice))
    },
    () => (chance.between(0, 2) === 0 ? pickServer().removeCard(account_id) : Effect.void),
    () =>
      withPayment(
        () => true,
        (id) => pickServer().payment(account_id, id)
      ),
    () => harness.loseNextResponse,
    () => Effect.andThen(harness.outage(true), Effect.andThen(Effect.sleep("200 millis"), harness.outage(false)))
  ]
  return Effect.suspend(() => Effect.andThen(ignoreFailure(chance.oneOf(steps)()), Effect.sleep(chance.between(0, 50))))
}

/** The number of steps is for each worker, with each kind of store. */
export const describeTwoServers = (steps: number): void =>
  inEachStripeSetup((name, within) => {
    describe(`two servers with ${name}`, () => {
      it.live(
        "book each payment, refund and dispute once, through concurrent requests, events and outages",
        () =>
          within((setup) =>
            Effect.gen(function* () {
              const seed = newSeed()
              console.log(`${name}: LARDER_CRASH_SEED=${seed}`)
              const chance = chanceFrom(seed)
              yield* setup.withBilling((first) =>
                setup.withBilling((second) =>
                  Effect.gen(function* () {
                    yield* setup.buy(first, 20_00, "good")
                    const worker = Effect.repeat(makeRandomStep(setup, [first, second], chance), { times: steps - 1 })
                    yield* Effect.all(
                      Array.from({ length: workers }, () => worker),
                      { concurrency: workers }
                    )
                  })
                )
              )
              yield* setup.harness.outage(false)
              yield* setup.advanceClock(pageExpiryMs) // unpaid pages have expired
              yield* setup.withBilling((billing) =>
                Effect.gen(function* () {
                  yield* until(Effect.map(listPayments(setup), (rows) => rows.every(({ state }) => state !== "open")))
                  for (const { id, state } of yield* listPayments(setup)) {
                    if (state !== "succeeded") continue
                    const { body, header } = yield* setup.harness.event(id)
                    yield* billing.webhook(body, header)
                  }
                  yield* until(
                    Effect.map(billing.settings(setup.account_id), ({ recharge }) => !recharge.is_recharging)
                  )
                  yield* billing.removeCard(setup.account_id) // so that no recharge begins during the comparison
                  yield* until(Effect.map(listPayments(setup), (rows) => rows.every(({ state }) => state !== "open")))
                  yield* setup.checkBooks
                  yield* setup.checkCards
                  const succeeded = (yield* listPayments(setup)).filter(({ state }) => state === "succeeded")
                  assert.isNotEmpty(succeeded)
                  assert.strictEqual(succeeded.length, yield* setup.harness.paid)
                })
              )
            })
          ),
        90_000 + steps * 1_000
      )
    })
  })
