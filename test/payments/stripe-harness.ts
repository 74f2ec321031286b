/** The Stripe adapter, with a simulated Stripe on this machine. */
import type { TestCardName } from "@larder/serve/billing/simulator/test-cards.ts"
import { makeStripeProcessor } from "@larder/serve/billing/stripe/stripe-processor.ts"
import { Clock, Effect, Redacted } from "effect"
import { lateResponseMs, type ProcessorHarness } from "./processor-harness.ts"
import { formatEventBody, type StripeHost, sign, startStripeHost, stripeKey, webhookSecret } from "./stripe-host.ts"

/** The simulator has no disputes. */
export interface StripeHarness extends ProcessorHarness {
  /** Returns the id of the dispute. */
  readonly dispute: (payment_id: string) => Effect.Effect<string>
  readonly closeDispute: (dispute: string, outcome: "won" | "lost") => Effect.Effect<void>
}

/** Also returns the host, for situations that only Stripe can cause. */
export const stripeHarnessWithHost = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const host = yield* Effect.acquireRelease(
    Effect.promise(() => startStripeHost(now)),
    (started) => Effect.promise(started.close)
  )
  const { state, faults } = host
  const settings = {
    key: Redacted.make(stripeKey),
    webhookSecret: Redacted.make(webhookSecret),
    isTest: true,
    api: new URL(host.url)
  }

  const findObject = <A>(objects: ReadonlyMap<string, A>, name: string, matches: (object: A) => boolean): A => {
    const found = [...objects.values()].find(matches)
    if (found === undefined) throw new Error(`Stripe has no ${name}`)
    return found
  }
  const findIntent = (payment_id: string) =>
    findObject(state.intents, `payment ${payment_id}`, ({ metadata }) => metadata.payment_id === payment_id)
  const findSession = (payment_id: string) =>
    findObject(state.sessions, `session of ${payment_id}`, ({ metadata }) => metadata.payment_id === payment_id)
  const paid = () => [...state.intents.values()].filter(({ status }) => status === "succeeded")

  const harness: StripeHarness = {
    processor: makeStripeProcessor(settings),
    pay: (id, card: TestCardName) => Effect.asVoid(Effect.sync(() => state.pay(findSession(id), card))),
    refund: (id, cents) => Effect.sync(() => state.refund(findIntent(id), cents).id),
    failRefund: (_, refund) =>
      Effect.sync(() => state.failRefund(findObject(state.refunds, refund, ({ id }) => id === refund))),
    dispute: (id) => Effect.sync(() => state.dispute(findIntent(id)).id),
    closeDispute: (dispute, outcome) =>
      Effect.sync(() =>
        state.close(
          findObject(state.disputes, dispute, ({ id }) => id === dispute),
          outcome
        )
      ),
    outage: (isOn) =>
      Effect.sync(() => {
        faults.outage = isOn ? "503" : "none"
      }),
    slow: (isOn) =>
      Effect.sync(() => {
        faults.slow_ms = isOn ? lateResponseMs : 0
      }),
    loseNextResponse: Effect.sync(() => {
      faults.loseNextResponse = true
    }),
    netCents: Effect.sync(() => paid().reduce((sum, intent) => sum + intent.received - state.sumReversed(intent), 0)),
    paid: Effect.sync(() => paid().length),
    savedCards: Effect.sync(() =>
      [...state.methods.values()].filter(({ customer }) => customer !== null).map(({ id }) => id)
    ),
    event: (id) =>
      Effect.sync(() => {
        const session = [...state.sessions.values()].find(({ metadata }) => metadata.payment_id === id)
        const object = session === undefined ? state.intent(findIntent(id).id, false) : state.session(session.id, false)
        const body = formatEventBody(`${String(object.object)}.updated`, object, now())
        const signature = sign(webhookSecret, body, now())
        return { body, header: (name: string) => (name.toLowerCase() === "stripe-signature" ? signature : null) }
      })
  }
  return { harness, host, settings }
})

/** Adds more payment pages of other payments than Larder lists. */
export const fillWithSessions = ({ state: { sessions } }: StripeHost) => {
  const [session] = sessions.values()
  if (session === undefined) throw new Error("Stripe has no session")
  for (let i = 0; i < 2000; i++) {
    const id = `cs_test_other${i}`
    sessions.set(id, { ...session, id, metadata: {}, intent: null, status: "open" })
  }
}

export const stripeHarness = Effect.map(stripeHarnessWithHost, ({ harness }) => harness)
