/** A probe reports a source that cannot be read. A fault of this machine ends the probe. */
import { Effect } from "effect"
import type { ArchiveUnwritable, RawFileDamaged } from "../run/archive/fetch-list.ts"
import { type OriginError, UpstreamUnavailable } from "../run/origins/origin.ts"

export const orFatal = <E extends OriginError>(error: E | ArchiveUnwritable | RawFileDamaged) =>
  error._tag === "ArchiveUnwritable" || error._tag === "RawFileDamaged"
    ? Effect.fail(error)
    : Effect.succeed(error as Exclude<typeof error, ArchiveUnwritable | RawFileDamaged>)

/** Why there was no answer, without the address of a failed connection: feeds with the same problem get one text. */
export const whyAway = (error: OriginError) => {
  if (!(error instanceof UpstreamUnavailable)) return error.message
  const { advice, problem, tries } = error
  return [`${problem}${tries > 1 ? `, ${tries} times` : ""}.`, advice].filter(Boolean).join(" ")
}
