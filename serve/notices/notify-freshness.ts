/** Sends to the operator's webhook once a minute what has changed about freshness. */
import { type Layout, type NotifiedStates, notifyFreshness, readFreshness, type Webhook } from "@larder/warehouse"
import { Effect } from "effect"
import { ConsoleDatabase, type ConsoleUnavailable } from "../persistence/index.ts"
import { checkEachMinute, takeClaim } from "./claim.ts"
import { readNotified, recordNotified } from "./notified-tables.ts"

const notifiedInTables = (database: ConsoleDatabase["Service"]): NotifiedStates<ConsoleUnavailable, never> => ({
  read: readNotified(database, "freshness"),
  record: (notified, forgotten) => recordNotified(database, notified, forgotten)
})

/** Sends what has changed if this server has the claim, or if the claim of another has expired. */
export const notifyFreshnessOnce = Effect.fnUntraced(function* (layout: Layout, webhook: Webhook, server: string) {
  if (!(yield* takeClaim("freshness", server))) return
  const database = yield* ConsoleDatabase
  const judged = yield* readFreshness(layout)
  if (judged !== undefined) yield* notifyFreshness(judged, notifiedInTables(database), webhook)
})

/** A failure is logged, and the next check sends the same. */
export const notifyOfFreshness = (layout: Layout, webhook: Webhook) =>
  checkEachMinute("freshness", (server) =>
    notifyFreshnessOnce(layout, webhook, server).pipe(
      Effect.catchTag("NoticeNotDelivered", ({ message }) =>
        Effect.logWarning(`the notice was not delivered: ${message}`)
      ),
      Effect.catchCause((cause) => Effect.logWarning("changes of freshness could not be checked", cause))
    )
  )
