/** A card processor as the tests of payments stand in front of it: its customers, its mishaps, and what money it has. */
import type { CardProcessor, TestCardName } from "@larder/serve/billing"
import type { Effect } from "effect"

/** Milliseconds: Larder waits ten seconds for an answer. */
export const tooLate = 11_000

export interface Event {
  readonly body: string
  readonly header: (name: string) => string | null
}

export interface Stand {
  readonly processor: CardProcessor
  /** What the customer does on the payment page that belongs to our payment. */
  readonly pay: (payment_id: string, card: TestCardName) => Effect.Effect<void>
  /** All that is left where `cents` is null. Answers with the id of the refund. */
  readonly refund: (payment_id: string, cents: number | null) => Effect.Effect<string>
  readonly failRefund: (payment_id: string, refund: string) => Effect.Effect<void>
  readonly dispute: (payment_id: string) => Effect.Effect<string>
  readonly closeDispute: (payment_id: string, dispute: string, outcome: "won" | "lost") => Effect.Effect<void>
  readonly outage: (isOn: boolean) => Effect.Effect<void>
  /** What is asked is done, and answered when nobody waits for it any more. */
  readonly slow: (isOn: boolean) => Effect.Effect<void>
  /** The next payment is made, and its answer lost. */
  readonly loseNextAnswer: Effect.Effect<void>
  /** Money that came and has not gone back, in US cents. */
  readonly kept: Effect.Effect<number>
  /** Payments that brought money, whatever became of it later. */
  readonly paid: Effect.Effect<number>
  /** Cards that can be charged without their owner, as the processor names them. */
  readonly savedCards: Effect.Effect<ReadonlyArray<string>>
  /** As the processor would send it now. */
  readonly event: (payment_id: string) => Effect.Effect<Event>
}
