/** The built-in simulator, with the actions of its pages. */
import { Simulator, sumRemainingCents, testCards, toReference } from "@larder/serve/billing"
import { formatEvent, newEventId, signatureHeader, signEvent } from "@larder/serve/billing/simulator/events.ts"
import { cardRecords } from "@larder/serve/billing/simulator/state.ts"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { lateResponseMs, type ProcessorHarness } from "./processor-harness.ts"

const maxListed = 10_000
const Settings = Schema.Struct({ body: Schema.fromJsonString(Schema.Struct({ webhook_secret: Schema.String })) })

export const simulatorHarness = Effect.gen(function* () {
  const database = yield* ConsoleDatabase
  const simulator = Context.get(yield* Layer.build(Simulator.layer(() => "http://127.0.0.1:9")), Simulator)
  const { failRefund, authenticate, listPayments, pay, processor, refund, setFaults } = simulator
  const harness: ProcessorHarness = {
    processor,
    pay: (id, card) =>
      Effect.gen(function* () {
        const result = yield* pay(toReference(id), { number: testCards[card].number, expires: "04/2035", cvc: "123" })
        if (result.kind === "requires_authentication") yield* authenticate(toReference(id), true)
      }).pipe(Effect.orDie),
    refund: (id, cents) => Effect.orDie(refund(toReference(id), cents)),
    failRefund: (id, refund) => Effect.orDie(failRefund(toReference(id), refund)),
    outage: (isOn) => Effect.orDie(setFaults({ outage: isOn })),
    slow: (isOn) => Effect.orDie(setFaults({ slow_ms: isOn ? lateResponseMs : 0 })),
    loseNextResponse: Effect.orDie(setFaults({ lose_next_answer: true })),
    netCents: Effect.orDie(
      Effect.map(listPayments(maxListed), (views) =>
        views.reduce((sum, { retrieved }) => sum + sumRemainingCents(retrieved), 0)
      )
    ),
    paid: Effect.orDie(
      Effect.map(
        listPayments(maxListed),
        (views) => views.filter(({ payment }) => payment.state === "succeeded").length
      )
    ),
    savedCards: Effect.orDie(Effect.map(cardRecords.all(database), (saved) => saved.map(({ id }) => id))),
    event: (id) =>
      Effect.gen(function* () {
        const [settings] = yield* database.all(Settings, "select body from console.simulated where kind = 'settings'")
        const at = yield* Clock.currentTimeMillis
        const body = formatEvent(newEventId(at), "charge.updated", { payment_id: id, account_id: "acct_any" }, at)
        const signature = signEvent(settings?.body.webhook_secret ?? "", body, at)
        return { body, header: (name: string) => (name.toLowerCase() === signatureHeader ? signature : null) }
      }).pipe(Effect.orDie)
  }
  return harness
})
