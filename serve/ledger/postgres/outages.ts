/** Outages that look like bugs. */
import { Cause, Effect } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** A migration wraps what the database said. */
const saidBy = (defect: unknown): ReadonlyArray<SqlError> => {
  if (isSqlError(defect)) return [defect]
  return defect instanceof Error && isSqlError(defect.cause) ? [defect.cause] : []
}

/**
 * Where a connection is lost in the middle of a transaction its rollback fails as well, and makes a defect of what is an
 * outage, and so does a migration; the database has rolled back by itself then.
 */
export const asOutage = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(work, (cause): Effect.Effect<never, E | SqlError> => {
    const [said] = cause.reasons.flatMap((reason) => (Cause.isDieReason(reason) ? saidBy(reason.defect) : []))
    return said === undefined ? Effect.failCause(cause) : Effect.fail(said)
  })
