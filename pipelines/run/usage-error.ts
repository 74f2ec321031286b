import { Runtime, Schema } from "effect"

/** A command, a setting or an input that must be changed. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return this.problem
  }
}
