/** Decides which failures of the services behind a page are temporary. */
import { Predicate } from "effect"

const temporaryErrors =
  /^(ConsoleUnavailable|LedgerUnavailable|BillingUnavailable|ProcessorUnavailable|ServerUnreachable)$/

/** SQLSTATE class 22: PostgreSQL is available but rejects a value, and always will. */
const isRejectedValue = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") && /^22[0-9A-Z]{3}$/.test(String(error.code))) ||
  (Predicate.hasProperty(error, "cause") && isRejectedValue(error.cause))

/** The database, the ledger or the card processor is unavailable; a retry may succeed. */
export const isTemporary = (error: unknown): boolean =>
  Predicate.hasProperty(error, "_tag") &&
  typeof error._tag === "string" &&
  temporaryErrors.test(error._tag) &&
  !isRejectedValue(error)
