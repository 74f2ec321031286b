/** Errors of a publication, with the step at which it stopped. */
import { Effect, PlatformError, Schema } from "effect"
import { isDiskFull } from "../disk.ts"
import { ManifestUnusable } from "../generation/manifest.ts"
import { PartDamaged } from "../generation/parts.ts"
import { TablesDiffer } from "../tables/earlier-versions.ts"
import { NewerDataSet } from "../tables/newer-versions.ts"
import { ChecksFailed } from "./check.ts"
import { PublishedMeanwhile, RolledBackMeanwhile } from "./record.ts"

/** Publishing failed at a step. The live data is unchanged. */
class PublishFailed extends Schema.TaggedError<PublishFailed>()("PublishFailed", {
  step: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    const full = isDiskFull(cause)
    const hint = full ? " The disk is full: a publication needs space for a second copy of its data set." : ""
    return `Publishing failed while ${this.step}: ${cause.replace(/\.$/, "")}.${hint} Nothing was published; the live data stays.`
  }
}

/** Errors whose own message is complete. */
const ownMessage = [
  PublishFailed,
  ChecksFailed,
  TablesDiffer,
  NewerDataSet,
  PartDamaged,
  ManifestUnusable,
  PublishedMeanwhile,
  RolledBackMeanwhile
] as const
type OwnMessage = InstanceType<(typeof ownMessage)[number]>
const hasOwnMessage = (error: unknown): error is OwnMessage => ownMessage.some((kind) => error instanceof kind)

export const during =
  (step: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (error) => {
      if (hasOwnMessage(error)) return error
      const cause = PlatformError.isPlatformError(error) ? (error.reason.cause ?? error) : error // it names the errno
      return new PublishFailed({ step, cause })
    })
