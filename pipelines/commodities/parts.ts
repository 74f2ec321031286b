/** What a feed lacks although it was read: the reasons for which it is left out in part. */
import type { FeedLeftOut } from "@larder/schemas"
import { commodity } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../run/pipeline.ts"
import {
  describeShare,
  findCommonestReason,
  isLeftOutInPart,
  isUnknownReject,
  stageKnownRejects
} from "../run/shares.ts"
import type { Normalised, PriceReject } from "./normalise/normalise.ts"

export interface FeedPart extends Pick<Normalised, "rejects" | "rows_judged"> {
  readonly feed: string
  /** Sentences about the payload as a whole, and about metrics that lost their value. They count in every run. */
  readonly faults: ReadonlyArray<string>
}

const toSentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`

/** A rejected row of the newest publication is always named, whatever its share. */
const describeNewest = (rejects: ReadonlyArray<PriceReject>) => {
  const [first] = rejects
  if (first === undefined) return []
  const rows =
    rejects.length === 1
      ? "1 row of its newest publication was"
      : `${rejects.length} rows of its newest publication were`
  return [`${rows} rejected, ${rejects.length === 1 ? "" : "the first "}at ${first.position}: ${first.reason}`]
}

/** Sentences that say why a feed is left out in part; none if it is not. */
export const explainPart = ({ faults, rejects, rows_judged }: Omit<FeedPart, "feed">): ReadonlyArray<string> => {
  const share = { read: rows_judged, rejected: rejects.length }
  const shares = isLeftOutInPart(share)
    ? [describeShare(share, "rows", findCommonestReason(rejects.map(({ reason }) => reason)))]
    : []
  return [...faults, ...shares, ...describeNewest(rejects.filter(({ is_newest }) => is_newest))].map(toSentence)
}

const UnknownReject = Schema.Struct({ feed: Schema.String, position: Schema.Int })

/** Returns the feeds that are left out in part, after their rejects are staged. */
export const listParts = Effect.fnUntraced(function* (run: RunContext, read: ReadonlyArray<FeedPart>) {
  const parts = read.flatMap((part) => {
    const sentences = explainPart(part)
    return sentences.length === 0 ? [] : [{ ...part, reason: sentences.join(" ") }]
  })
  if (parts.length === 0) return []
  yield* stageKnownRejects(
    run,
    commodity,
    parts.map(({ feed }) => feed)
  )
  const unknown = yield* run.staging.db.all(
    UnknownReject,
    `select feed, position::integer as position from ingest.reject where ${isUnknownReject}`
  )
  return parts.map(({ faults, feed, reason, rejects }): FeedLeftOut => {
    const positions = new Set(unknown.filter((reject) => reject.feed === feed).map(({ position }) => position))
    const is_known = faults.length === 0 && !rejects.some(({ position }) => positions.has(position))
    return { feed, kind: "partial", reason, is_known }
  })
})
