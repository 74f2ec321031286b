/** Turns outages that Effect reports as defects back into errors. */
import { Cause, Effect } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** A migration wraps the error of the database. */
const findSqlErrors = (defect: unknown): ReadonlyArray<SqlError> => {
  if (isSqlError(defect)) return [defect]
  return defect instanceof Error && isSqlError(defect.cause) ? [defect.cause] : []
}

/**
 * If a connection is lost in the middle of a transaction, its rollback fails as well, which turns the outage into a
 * defect; a migration does the same. The database has already rolled back by itself.
 */
export const failOnOutage = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(work, (cause): Effect.Effect<never, E | SqlError> => {
    const [sqlError] = cause.reasons.flatMap((reason) =>
      Cause.isDieReason(reason) ? findSqlErrors(reason.defect) : []
    )
    return sqlError === undefined ? Effect.failCause(cause) : Effect.fail(sqlError)
  })
