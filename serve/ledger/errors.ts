/** Problems of the ledger itself, wherever it is stored. */
import { Schema } from "effect"

/** An error that was received over a wire is a plain object. */
const readMessage = (cause: unknown): string => {
  const { message }: { readonly message?: unknown } = Object(cause)
  if (typeof message === "string") return message
  return typeof cause === "object" ? JSON.stringify(cause) : String(cause)
}
const firstLine = (cause: unknown) => readMessage(cause).split("\n")[0]

/**
 * The ledger cannot be written or read now: the disk is full or missing, or the database is unreachable. A retry may
 * succeed.
 */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {
  action: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The ledger cannot ${this.action}: ${firstLine(this.cause)}`
  }
}

/** Turns any cause into the ledger's own error. */
export const ledgerUnavailable = (action: string) => (cause: unknown) =>
  cause instanceof LedgerUnavailable ? cause : new LedgerUnavailable({ action, cause })

/** Another process holds the ledger. */
export class LedgerInUse extends Schema.TaggedError<LedgerInUse>()("LedgerInUse", { file: Schema.String }) {
  override get message() {
    return `${this.file} is held by another process: a larder-serve that is running, or a command. Stop it, or choose another LARDER_HOME.`
  }
}

/** The stored data is not what was written. It is never repaired silently. */
export class LedgerDamaged extends Schema.TaggedError<LedgerDamaged>()("LedgerDamaged", {
  /** A file, or the tables of a database. */
  place: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The ledger is damaged: ${this.place}: ${this.problem}. Nothing was changed. Restore the ledger from a backup; docs/operations.md tells how.`
  }
}
