/**
 * Kills a process at a chosen stage of its work with payments: before or after each durable step, here or at the card
 * processor. The process kills itself with SIGKILL, so that the moment is exact and none of its code runs afterwards.
 */
import type { CardProcessor } from "@larder/serve/billing"
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
export interface End {
  readonly stage: Stage
  readonly time: number
}

export const killAtStage = (end: End | null) => {
  const met: Partial<Record<Stage, number>> = {}
  const meet = (stage: Stage) =>
    Effect.sync(() => {
      const times = (met[stage] ?? 0) + 1
      met[stage] = times
      if (stage === end?.stage && times === end.time) process.kill(process.pid, "SIGKILL")
    })
  const around = <A, E, R>(before: Stage, work: Effect.Effect<A, E, R>, after: Stage) =>
    Effect.ensuring(Effect.andThen(meet(before), work), meet(after))
  const statements = (db: Statements): Statements => ({
    all: db.all,
    run: (sql, params) => around("before a statement", db.run(sql, params), "after a statement")
  })
  return {
    /** How often each stage was reached. */
    met,
    database: (db: ConsoleDatabase["Service"]): ConsoleDatabase["Service"] => ({
      ...db,
      ...statements(db),
      transaction: (work) =>
        around(
          "before a transaction",
          db.transaction((inside) => work(statements(inside))),
          "after a transaction"
        )
    }),
    administration: (administration: Administration["Service"]): Administration["Service"] => ({
      ...administration,
      book: (booking) => around("before a booking", administration.book(booking), "after a booking")
    }),
    processor: (processor: CardProcessor): CardProcessor => ({
      ...processor,
      checkout: (request) => around("before a page is made", processor.checkout(request), "after a page is made"),
      charge: (request) => around("before a charge", processor.charge(request), "after a charge"),
      retrieve: (query) => around("before a retrieval", processor.retrieve(query), "after a retrieval"),
      forget: (card) => around("before a card is forgotten", processor.forget(card), "after a card is forgotten")
    })
  }
}
