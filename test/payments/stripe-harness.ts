/** The Stripe adapter in front of its host on this machine. */
import type { TestCardName } from "@larder/serve/billing"
import { makeStripeProcessor } from "@larder/serve/billing/stripe"
import { Clock, Effect, Redacted } from "effect"
import { type Stand, tooLate } from "./stand.ts"
import { eventBodyOf, signatureOf, startStripeHost, stripeKey, webhookSecret } from "./stripe-host.ts"

/** With the host behind it, for what only Stripe can play. */
export const stripeStandWithHost = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const host = yield* Effect.acquireRelease(
    Effect.promise(() => startStripeHost(now)),
    (started) => Effect.promise(started.close)
  )
  const { books, mishaps } = host
  const settings = {
    key: Redacted.make(stripeKey),
    webhookSecret: Redacted.make(webhookSecret),
    isTest: true,
    api: new URL(host.url)
  }

  const only = <A>(kept: ReadonlyMap<string, A>, what: string, isIt: (it: A) => boolean): A => {
    const [found] = [...kept.values()].filter(isIt)
    if (found === undefined) throw new Error(`Stripe has no ${what}`)
    return found
  }
  const intentOf = (payment_id: string) =>
    only(books.intents, `payment ${payment_id}`, ({ metadata }) => metadata.payment_id === payment_id)
  const sessionOf = (payment_id: string) =>
    only(books.sessions, `session of ${payment_id}`, ({ metadata }) => metadata.payment_id === payment_id)
  const paid = () => [...books.intents.values()].filter(({ status }) => status === "succeeded")

  const stand: Stand = {
    processor: makeStripeProcessor(settings),
    pay: (id, card: TestCardName) => Effect.asVoid(Effect.sync(() => books.pay(sessionOf(id), card))),
    refund: (id, cents) => Effect.sync(() => books.refund(intentOf(id), cents).id),
    failRefund: (_, refund) =>
      Effect.sync(() => books.failRefund(only(books.refunds, refund, ({ id }) => id === refund))),
    dispute: (id) => Effect.sync(() => books.dispute(intentOf(id)).id),
    closeDispute: (_, dispute, outcome) =>
      Effect.sync(() =>
        books.close(
          only(books.disputes, dispute, ({ id }) => id === dispute),
          outcome
        )
      ),
    outage: (isOn) =>
      Effect.sync(() => {
        mishaps.outage = isOn ? "503" : "none"
      }),
    slow: (isOn) =>
      Effect.sync(() => {
        mishaps.slow_ms = isOn ? tooLate : 0
      }),
    loseNextAnswer: Effect.sync(() => {
      mishaps.loseNextAnswer = true
    }),
    netCents: Effect.sync(() => paid().reduce((sum, intent) => sum + intent.received - books.goneOf(intent), 0)),
    paid: Effect.sync(() => paid().length),
    savedCards: Effect.sync(() =>
      [...books.methods.values()].filter(({ customer }) => customer !== null).map(({ id }) => id)
    ),
    event: (id) =>
      Effect.sync(() => {
        const session = [...books.sessions.values()].find(({ metadata }) => metadata.payment_id === id)
        const object = session === undefined ? books.intent(intentOf(id).id, false) : books.session(session.id, false)
        const body = eventBodyOf(`${String(object.object)}.updated`, object, now())
        const signature = signatureOf(webhookSecret, body, now())
        return { body, header: (name: string) => (name.toLowerCase() === "stripe-signature" ? signature : null) }
      })
  }
  return { stand, host, settings }
})

export const stripeStand = Effect.map(stripeStandWithHost, ({ stand }) => stand)
