/**
 * Feeds of which too much was rejected: they are left out in part. Rejects that an earlier run recorded with the same
 * text count for the share, but not for the exit code.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { type DataSet, literal, readLive, type Staging } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "./pipeline.ts"
import { thresholds } from "./thresholds.ts"

export interface Share {
  readonly read: number
  readonly rejected: number
}

export const isLeftOutInPart = ({ read, rejected }: Share): boolean =>
  rejected > 1 && thresholds.rejectedShare.isMetBy(rejected, read)

/** Reasons that differ only in quoted texts and in numbers are one reason. Written for JavaScript and for DuckDB. */
const variableParts = String.raw`"[^"]*"|\d+`
const omitVariableParts = new RegExp(variableParts, "g")
export const reasonKindSql = (reason: string) => `regexp_replace(${reason}, ${literal(variableParts)}, '…', 'g')`

/** The first reason of the kind that occurs most often; undefined without reasons. */
export const findCommonestReason = (reasons: Iterable<string>): string | undefined => {
  const kinds = new Map<string, { readonly example: string; count: number }>()
  for (const reason of reasons) {
    const kind = reason.replaceAll(omitVariableParts, "…")
    const known = kinds.get(kind) ?? { example: reason, count: 0 }
    known.count += 1
    kinds.set(kind, known)
  }
  const commonest = [...kinds.values()].reduce<{ readonly example: string; readonly count: number } | undefined>(
    (most, kind) => (most === undefined || kind.count > most.count ? kind : most),
    undefined
  )
  return commonest?.example
}

/** `21 of 40 prices were rejected (52.5 %), most often because close_price is "$0.69", which is not a price` */
export const describeShare = ({ read, rejected }: Share, noun: string, reason: string | undefined): string => {
  const [part, all] = [rejected.toLocaleString("en-US"), read.toLocaleString("en-US")]
  const percent = `${((rejected / read) * 100).toFixed(1)} %`
  const cause = reason === undefined ? "" : `, most often because ${reason.replace(/\.$/, "")}`
  return `${part} of ${all} ${noun} were rejected (${percent})${cause}`
}

/** `unknown`: how many of the rejects no earlier run recorded. Without any, the exit code is that of a complete read. */
export const leaveOutInPart = (feed: string, unknown: number, reason: string): FeedLeftOut => ({
  feed,
  kind: "partial",
  reason: `${reason}.`,
  is_known: unknown === 0
})

/** Fields that change although the record does not. */
const changingFields = `"updated_at":"[^"]*"`

/** The identity of a reject across runs. */
const textHash = (payload: string) => `hash(feed, regexp_replace(${payload}, ${literal(changingFields)}, '', 'g'))`

const Known = Schema.Struct({ hash: Schema.String })

/**
 * Creates the table `known_reject` in the staging database: what live runs rejected from these feeds, or from files of
 * them. Their texts are compared by hash.
 */
export const stageKnownRejects = Effect.fnUntraced(function* (
  { layout, staging }: Pick<RunContext, "layout" | "staging">,
  dataSet: DataSet,
  feeds: ReadonlyArray<string>
) {
  const isOfFeeds = feeds.map((feed) => `feed = ${literal(feed)} or starts_with(feed, ${literal(`${feed}/`)})`)
  const known = yield* readLive(layout, dataSet, [], (db) =>
    db.all(
      Known,
      `select distinct ${textHash("payload")}::varchar as hash from ingest.reject
       where pipeline = ${literal(dataSet.about.pipeline)} and (${isOfFeeds.join(" or ")})`
    )
  )
  yield* createKnownRejects(staging, known)
})

const hashesPerStatement = 10_000

const createKnownRejects = Effect.fnUntraced(function* (
  { db }: Pick<Staging, "db">,
  known: ReadonlyArray<typeof Known.Type>
) {
  yield* db.run("create or replace temp table known_reject (hash ubigint)")
  for (let first = 0; first < known.length; first += hashesPerStatement) {
    const values = known.slice(first, first + hashesPerStatement).map(({ hash }) => `(${hash})`)
    yield* db.run(`insert into known_reject values ${values.join(", ")}`)
  }
})

/** SQL condition on a row of `ingest.reject`, after `stageKnownRejects`. */
export const isUnknownReject = `${textHash("payload")} not in (select hash from known_reject)`
