/** A source that could not be read is what a probe tells of. What is wrong with this machine ends it. */
import { Effect } from "effect"
import { type OriginError, UpstreamUnavailable } from "../run/origin.ts"
import type { ArchiveUnwritable, RawFileDamaged } from "../run/raw-file.ts"

export const orFatal = <E extends OriginError>(error: E | ArchiveUnwritable | RawFileDamaged) =>
  error._tag === "ArchiveUnwritable" || error._tag === "RawFileDamaged"
    ? Effect.fail(error)
    : Effect.succeed(error as Exclude<typeof error, ArchiveUnwritable | RawFileDamaged>)

/** Why nothing came. Of a connection that failed, without the address: so feeds with the same trouble read the same. */
export const whyAway = (error: OriginError) => {
  if (!(error instanceof UpstreamUnavailable)) return error.message
  const { advice, problem, tries } = error
  return [`${problem}${tries > 1 ? `, ${tries} times` : ""}.`, advice].filter(Boolean).join(" ")
}
