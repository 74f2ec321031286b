/** Decides which failures of the services behind a page are temporary. */
import { Predicate } from "effect"

const away = /^(ConsoleUnavailable|LedgerUnavailable|BillingUnavailable|ProcessorUnavailable|ServerUnreachable)$/

/** SQLSTATE class 22: PostgreSQL is available but rejects a value, and always will. */
const isAboutAValue = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") && /^22[0-9A-Z]{3}$/.test(String(error.code))) ||
  (Predicate.hasProperty(error, "cause") && isAboutAValue(error.cause))

/** The database, the ledger or the card processor is unavailable; a retry may succeed. */
export const isPassing = (error: unknown): boolean =>
  Predicate.hasProperty(error, "_tag") &&
  typeof error._tag === "string" &&
  away.test(error._tag) &&
  !isAboutAValue(error)
