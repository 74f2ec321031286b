/** Sends to the operator's webhook once a minute what has changed about freshness. */
import { type NotifiedStates, notifyFreshness, type Webhook } from "@larder/warehouse"
import { Effect } from "effect"
import type { WarehouseState } from "../monitoring/index.ts"
import { ConsoleDatabase, type ConsoleUnavailable } from "../persistence/index.ts"
import { checkEachMinute, dropClaim, takeClaim } from "./claim.ts"
import type { Deliveries } from "./deliveries.ts"
import { readNotified, recordNotified } from "./notified-tables.ts"

const notifiedInTables = (database: ConsoleDatabase["Service"]): NotifiedStates<ConsoleUnavailable, never> => ({
  read: readNotified(database, "freshness"),
  record: (notified, forgotten) => recordNotified(database, notified, forgotten)
})

type Judged = Pick<WarehouseState, "fault" | "freshness" | "read_at">

/**
 * Sends what has changed if this server has the claim, or if the claim of another has expired, and returns the number of
 * changes. Without a result of the last read, it sends nothing: the reader has logged why.
 */
export const notifyFreshnessOnce = Effect.fnUntraced(function* (
  { fault, freshness, read_at }: Judged,
  webhook: Webhook,
  server: string
) {
  if (!(yield* takeClaim("freshness", server))) return 0
  if (read_at === undefined || fault !== undefined) return 0
  return yield* notifyFreshness(freshness, notifiedInTables(yield* ConsoleDatabase), webhook).pipe(
    Effect.tapErrorTag("NoticeNotDelivered", () => dropClaim("freshness", server))
  )
})

/** `judged` returns what the server read last. A failure is logged, and the next check sends the same. */
export const notifyOfFreshness = (judged: () => Judged, webhook: Webhook, { notice }: Deliveries) =>
  checkEachMinute("freshness", (server) =>
    Effect.suspend(() => notifyFreshnessOnce(judged(), webhook, server)).pipe(
      Effect.flatMap((changes) =>
        Effect.sync(() => {
          if (changes > 0) notice.delivered++
        })
      ),
      Effect.catchTag("NoticeNotDelivered", ({ message }) => {
        notice.failed++
        return Effect.logWarning(`the notice was not delivered: ${message}`)
      }),
      Effect.catchCause((cause) => Effect.logWarning("changes of freshness could not be checked", cause))
    )
  )
