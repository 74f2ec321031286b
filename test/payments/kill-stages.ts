/**
 * A server that is killed at a chosen moment of its work with money: before or after each thing that becomes durable, here
 * or at the card processor. It kills itself with -9, so that the moment is exact; nothing of the process runs any more.
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

/** The end comes when a stage is met for this time, counted from 1. */
export interface End {
  readonly stage: Stage
  readonly time: number
}

export const stumble = (end: End | null) => {
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
    /** How often each stage was met. */
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
    administration: (it: Administration["Service"]): Administration["Service"] => ({
      ...it,
      book: (booking) => around("before a booking", it.book(booking), "after a booking")
    }),
    processor: (it: CardProcessor): CardProcessor => ({
      ...it,
      checkout: (asked) => around("before a page is made", it.checkout(asked), "after a page is made"),
      charge: (asked) => around("before a charge", it.charge(asked), "after a charge"),
      retrieve: (query) => around("before a retrieval", it.retrieve(query), "after a retrieval"),
      forget: (card) => around("before a card is forgotten", it.forget(card), "after a card is forgotten")
    })
  }
}
