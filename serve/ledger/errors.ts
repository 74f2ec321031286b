/** Errors of the ledger, for every store. */
import { type Duration, Effect, Schema } from "effect"

/** An error that was received over a wire is a plain object. */
const readMessage = (cause: unknown): string => {
  const { message }: { readonly message?: unknown } = Object(cause)
  if (typeof message === "string") return message
  return typeof cause === "object" ? JSON.stringify(cause) : String(cause)
}
const firstLine = (cause: unknown) => readMessage(cause).split("\n")[0]

/** The disk is full or missing, or the database is unreachable. A retry may succeed. */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {
  action: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The ledger cannot ${this.action}: ${firstLine(this.cause)}`
  }
}

export const toLedgerUnavailable = (action: string) => (cause: unknown) =>
  cause instanceof LedgerUnavailable ? cause : new LedgerUnavailable({ action, cause })

/** Fails if the work takes longer: a lost connection may not be detected for minutes. */
export const failAfter =
  <E>(duration: Duration.Input & string, toError: (problem: string) => E) =>
  <A, E2, R>(work: Effect.Effect<A, E2, R>) =>
    Effect.timeoutOrElse(work, { duration, orElse: () => Effect.fail(toError(`no response within ${duration}`)) })

export class LedgerInUse extends Schema.TaggedError<LedgerInUse>()("LedgerInUse", { file: Schema.String }) {
  override get message() {
    return `${this.file} is in use by another process, such as a running larder-serve or a command. Stop it, or choose another LARDER_HOME.`
  }
}

/** Another version of Larder or another program has written what is stored. */
export class LedgerUnreadable extends Schema.TaggedError<LedgerUnreadable>()("LedgerUnreadable", {
  place: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The ledger cannot be used: ${this.place}: ${this.problem}. Nothing was changed.`
  }
}

/** The stored data is not what was written. It is never repaired silently. */
export class LedgerDamaged extends Schema.TaggedError<LedgerDamaged>()("LedgerDamaged", {
  place: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The ledger is damaged: ${this.place}: ${this.problem}. Nothing was changed. Restore the ledger from a backup; docs/operations.md describes how.`
  }
}
