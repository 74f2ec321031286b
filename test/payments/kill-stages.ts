/**
 * Kills a process at a chosen stage of its work with payments: before or after each durable step, here or at the card
 * processor. The process kills itself with SIGKILL, so that the moment is exact and none of its code runs afterwards.
 */
import type { CardProcessor } from "@larder/serve/billing/processor.ts"
import type { Administration } from "@larder/serve/ledger"
import type { ConsoleDatabase, Statements } from "@larder/serve/persistence"
import { Effect } from "effect"

export const stages = [
  "before a statement",
  "after a statement",
  "before a transaction",
  "after a transaction",
  "before a booking",
  "after a booking",
  "before a page is made",
  "after a page is made",
  "before a charge",
  "after a charge",
  "before a retrieval",
  "after a retrieval",
  "before a card is forgotten",
  "after a card is forgotten"
] as const
export type Stage = (typeof stages)[number]

/** The process is killed when it reaches the stage for the `time`-th time, counted from 1. */
export interface KillPoint {
  readonly stage: Stage
  readonly time: number
}

export const killAtStage = (killPoint: KillPoint | null) => {
  const reached: Partial<Record<Stage, number>> = {}
  const reach = (stage: Stage) =>
    Effect.sync(() => {
      const times = (reached[stage] ?? 0) + 1
      reached[stage] = times
      if (stage === killPoint?.stage && times === killPoint.time) process.kill(process.pid, "SIGKILL")
    })
  const between = <A, E, R>(before: Stage, work: Effect.Effect<A, E, R>, after: Stage) =>
    Effect.ensuring(Effect.andThen(reach(before), work), reach(after))
  const withStages = (db: Statements): Statements => ({
    all: db.all,
    run: (sql, params) => between("before a statement", db.run(sql, params), "after a statement")
  })
  return {
    /** How often each stage was reached. */
    reached,
    database: (db: ConsoleDatabase["Service"]): ConsoleDatabase["Service"] => ({
      ...db,
      ...withStages(db),
      transaction: (work) =>
        between(
          "before a transaction",
          db.transaction((inside) => work(withStages(inside))),
          "after a transaction"
        )
    }),
    administration: (administration: Administration["Service"]): Administration["Service"] => ({
      ...administration,
      book: (booking) => between("before a booking", administration.book(booking), "after a booking")
    }),
    processor: (processor: CardProcessor): CardProcessor => ({
      ...processor,
      checkout: (request) => between("before a page is made", processor.checkout(request), "after a page is made"),
      charge: (request) => between("before a charge", processor.charge(request), "after a charge"),
      retrieve: (query) => between("before a retrieval", processor.retrieve(query), "after a retrieval"),
      detachCard: (card) =>
        between("before a card is forgotten", processor.detachCard(card), "after a card is forgotten")
    })
  }
}
