/** Adds the step at which a publication failed to its error. */
import { Effect, PlatformError, Schema } from "effect"
import { causeText, isDiskFull } from "../disk.ts"
import { ManifestUnusable } from "../generation/manifest.ts"
import { PartDamaged } from "../generation/parts.ts"
import { NewerDataSet, TablesDiffer } from "../tables/versions.ts"
import { ChecksFailed } from "./check.ts"
import { ConcurrentPublication, ConcurrentRollback } from "./promote.ts"

class PublishFailed extends Schema.TaggedError<PublishFailed>()("PublishFailed", {
  step: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = causeText(this.cause)
    const hint = isDiskFull(cause)
      ? " The disk is full: a publication needs space for a second copy of its data set."
      : ""
    return `Publishing failed while ${this.step}: ${cause.replace(/\.$/, "")}.${hint} Nothing was published; the live data is unchanged.`
  }
}

/** Errors with complete messages. */
const completeErrors = [
  PublishFailed,
  ChecksFailed,
  TablesDiffer,
  NewerDataSet,
  PartDamaged,
  ManifestUnusable,
  ConcurrentPublication,
  ConcurrentRollback
] as const
type CompleteError = InstanceType<(typeof completeErrors)[number]>
const isComplete = (error: unknown): error is CompleteError => completeErrors.some((kind) => error instanceof kind)

export const during =
  (step: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (error) => {
      if (isComplete(error)) return error
      const cause = PlatformError.isPlatformError(error) ? (error.reason.cause ?? error) : error // it names the errno
      return new PublishFailed({ step, cause })
    })
