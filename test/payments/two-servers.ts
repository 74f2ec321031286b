/**
 * Two servers on one ledger, and customers, banks and a processor that do anything at any time: pages paid and left, forms
 * sent twice, cards removed, recharges switched on and off, refunds, disputes, lost answers, outages, events told to both.
 * In the end money in equals credits granted. `LARDER_CRASH_SEED` repeats a history as far as timing allows.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { Effect, Schema } from "effect"
import { type Chance, chanceFrom, newSeed } from "../crash/chance.ts"
import { inEachShop, type Pair, type Shop, until } from "./shop.ts"

const workers = 4
/** Longer than a payment page is there. */
const aDay = 25 * 3_600_000

type Open = Billing["Service"]
type Step = Effect.Effect<unknown, unknown>

const Row = Schema.Struct({ id: Schema.String, state: Schema.String, card: Schema.NullOr(Schema.String) })
const rowsOf = ({ database }: Shop) => database.all(Row, "select id, state, card from console.payment order by id")

/** What is not possible now does not happen. */
const perhaps = <A, E>(work: Effect.Effect<A, E>) => Effect.catchCause(work, () => Effect.succeed(undefined))

/** What may happen: each time it is run, one thing chosen by chance. */
const nextSteps = (shop: Shop, servers: readonly [Open, Open], chance: Chance) => {
  const { account_id, form, savedForm, spend, stand } = shop
  const forms: Array<ReturnType<typeof form>["asked"]> = []
  const disputes: Array<{ readonly payment_id: string; readonly id: string }> = []
  const server = () => chance.oneOf(servers)
  const anyOf = <A>(all: ReadonlyArray<A>): A | undefined => all[chance.between(0, all.length - 1)]
  const both = (work: (billing: Open) => Step): Step =>
    Effect.all(
      servers.map((billing) => perhaps(work(billing))),
      { concurrency: 2 }
    )
  const tell = (id: string): Step =>
    Effect.flatMap(stand.event(id), ({ body, header }) => both((billing) => billing.webhook(body, header)))
  const sometimesTell = (id: string): Step => (chance.between(0, 2) === 0 ? Effect.void : tell(id))
  const withOne = (isIt: (row: typeof Row.Type) => boolean, work: (id: string) => Step): Step =>
    Effect.flatMap(rowsOf(shop), (rows) => {
      const found = anyOf(rows.filter(isIt))
      return found === undefined ? Effect.void : work(found.id)
    })
  const isPaid = ({ state }: typeof Row.Type) => state === "succeeded"
  const amount = () => chance.oneOf([10_00, 25_55])
  const remembered = ({ asked }: ReturnType<typeof form>) => {
    forms.push(asked)
    return asked
  }
  const cards = ["good", "mastercard", "declined", "declined_later", "disputed", "refunds_fail"] as const

  const steps: readonly [() => Step, ...ReadonlyArray<() => Step>] = [
    () => server().topUp(remembered(form(amount()))),
    () =>
      Effect.flatMap(savedForm(server(), amount()), (made) => {
        const asked = remembered(made)
        return both((billing) => billing.topUp(asked))
      }),
    () => {
      const asked = anyOf(forms)
      return asked === undefined ? Effect.void : server().topUp(asked)
    },
    () =>
      withOne(
        ({ card, state }) => state === "open" && card === null,
        (id) => Effect.andThen(stand.pay(id, chance.oneOf(cards)), sometimesTell(id))
      ),
    () => withOne(isPaid, (id) => Effect.andThen(stand.refund(id, chance.between(1, 5_00)), sometimesTell(id))),
    () => withOne(isPaid, (id) => Effect.flatMap(stand.refund(id, 1_00), (refund) => stand.failRefund(id, refund))),
    () =>
      withOne(isPaid, (payment_id) =>
        Effect.flatMap(stand.dispute(payment_id), (id) => {
          disputes.push({ payment_id, id })
          return sometimesTell(payment_id)
        })
      ),
    () => {
      const ended = disputes.shift()
      if (ended === undefined) return Effect.void
      const { id, payment_id } = ended
      const outcome = chance.between(0, 1) === 0 ? "won" : "lost"
      return Effect.andThen(stand.closeDispute(payment_id, id, outcome), sometimesTell(payment_id))
    },
    () =>
      Effect.tap(spend(chance.oneOf([10, 5_000, 20_000])), () =>
        both((billing) => Effect.sync(() => billing.charged(account_id)))
      ),
    () => {
      const trigger_credits = chance.oneOf([1_000, 30_000])
      return server().saveRecharge(account_id, { is_on: chance.between(0, 2) > 0, cents: 20_00, trigger_credits })
    },
    () => (chance.between(0, 2) === 0 ? server().removeCard(account_id) : Effect.void),
    () =>
      withOne(
        () => true,
        (id) => server().payment(account_id, id)
      ),
    () => stand.loseNextAnswer,
    () => Effect.andThen(stand.outage(true), Effect.andThen(Effect.sleep("200 millis"), stand.outage(false)))
  ]
  return Effect.suspend(() => Effect.andThen(perhaps(chance.oneOf(steps)()), Effect.sleep(chance.between(0, 50))))
}

/** So many steps of each worker, with each pair of a processor and a kind of store. */
export const inTwoServers = (pairs: ReadonlyArray<Pair>, steps: number): void =>
  inEachShop((name, within) => {
    describe(`two servers with ${name}`, () => {
      it.live(
        "book each payment, refund and dispute once, through concurrent requests, events and outages",
        () =>
          within((shop) =>
            Effect.gen(function* () {
              const seed = newSeed()
              console.log(`${name}: LARDER_CRASH_SEED=${seed}`)
              const chance = chanceFrom(seed)
              yield* shop.visit((one) =>
                shop.visit((other) =>
                  Effect.gen(function* () {
                    yield* shop.buy(one, 20_00, "good")
                    const worker = Effect.repeat(nextSteps(shop, [one, other], chance), { times: steps - 1 })
                    yield* Effect.all(
                      Array.from({ length: workers }, () => worker),
                      { concurrency: workers }
                    )
                  })
                )
              )
              yield* shop.stand.outage(false)
              yield* shop.putForward(aDay) // unpaid pages have expired
              yield* shop.visit((billing) =>
                Effect.gen(function* () {
                  yield* until(Effect.map(rowsOf(shop), (rows) => rows.every(({ state }) => state !== "open")))
                  for (const { id, state } of yield* rowsOf(shop)) {
                    if (state !== "succeeded") continue
                    const { body, header } = yield* shop.stand.event(id)
                    yield* billing.webhook(body, header)
                  }
                  yield* until(Effect.map(billing.settings(shop.account_id), ({ recharge }) => !recharge.is_recharging))
                  yield* billing.removeCard(shop.account_id) // so that no recharge begins while the books are compared
                  yield* until(Effect.map(rowsOf(shop), (rows) => rows.every(({ state }) => state !== "open")))
                  yield* shop.checkBooks
                  yield* shop.checkCards
                  const succeeded = (yield* rowsOf(shop)).filter(({ state }) => state === "succeeded")
                  assert.isNotEmpty(succeeded)
                  assert.strictEqual(succeeded.length, yield* shop.stand.paid)
                })
              )
            })
          ),
        90_000 + steps * 1_000
      )
    })
  }, pairs)
