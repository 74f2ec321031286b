/**
 * Lines for addresses that gave no payload, in the list of what a run fetched, so that a run that is repeated from the
 * archive ends the same way. An address without a recording has no line: it will be missing the next time, too.
 */
import { Schema } from "effect"
import {
  AccessDenied,
  AnswerTooLarge,
  ForbiddenAddress,
  GivenUp,
  RecordingUnreadable,
  RefusedByUpstream,
  UpstreamUnavailable
} from "./origin.ts"

const Refusal = Schema.Union([
  UpstreamUnavailable,
  AccessDenied,
  RefusedByUpstream,
  AnswerTooLarge,
  GivenUp,
  ForbiddenAddress,
  RecordingUnreadable
])
const isRefusal = Schema.is(Refusal)
const encode = Schema.encodeSync(Refusal)
/** Decodes the JSON of a refusal from `encodeRefusal`. */
export const decodeRefusal = Schema.decodeUnknownEffect(Schema.fromJsonString(Refusal))

export const RefusedRequest = Schema.Struct({
  run_id: Schema.String,
  pipeline: Schema.String,
  url: Schema.String,
  refused_at: Schema.String,
  refusal: Refusal
})
export type RefusedRequest = typeof RefusedRequest.Type

/** Without details of this machine: local paths, and causes, which a spread leaves out. */
const withoutMachine = (url: string, error: typeof Refusal.Type) => {
  if (error._tag === "UpstreamUnavailable") return new UpstreamUnavailable({ ...error })
  if (error._tag !== "RecordingUnreadable") return error
  const code = error.cause instanceof Error ? Reflect.get(error.cause, "code") : undefined
  return new RecordingUnreadable({ file: url, cause: typeof code === "string" ? code : "it could not then" })
}

/** The form of an error in a line; undefined for an error that is not a response. */
export const encodeRefusal = (url: string, error: unknown) =>
  isRefusal(error) ? encode(withoutMachine(url, error)) : undefined
