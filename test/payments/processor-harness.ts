/** A card processor under test, with its customers, its faults, and the money that it has received. */
import type { CardProcessor } from "@larder/serve/billing/processor.ts"
import type { TestCardName } from "@larder/serve/billing/simulator/test-cards.ts"
import type { Effect } from "effect"

/** Larder waits ten seconds for a response. */
export const lateResponseMs = 11_000

export interface Event {
  readonly body: string
  readonly header: (name: string) => string | null
}

export interface ProcessorHarness {
  readonly processor: CardProcessor
  /** The customer pays on the payment page of our payment. */
  readonly pay: (payment_id: string, card: TestCardName) => Effect.Effect<void>
  /** Refunds the rest if `cents` is null. Returns the id of the refund. */
  readonly refund: (payment_id: string, cents: number | null) => Effect.Effect<string>
  readonly failRefund: (payment_id: string, refund: string) => Effect.Effect<void>
  readonly outage: (isOn: boolean) => Effect.Effect<void>
  /** Requests are carried out, but their responses come after Larder has stopped waiting. */
  readonly slow: (isOn: boolean) => Effect.Effect<void>
  /** The next payment is made, but its response is lost. */
  readonly loseNextResponse: Effect.Effect<void>
  /** Money received minus money returned, in US cents. */
  readonly netCents: Effect.Effect<number>
  /** Number of payments that were paid, even if the money was returned later. */
  readonly paid: Effect.Effect<number>
  /** Cards that can be charged off-session, by the processor's ids. */
  readonly savedCards: Effect.Effect<ReadonlyArray<string>>
  /** The event that the processor would send now. */
  readonly event: (payment_id: string) => Effect.Effect<Event>
}
