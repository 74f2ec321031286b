/**
 * The share of labels of which a row or a part was rejected. A form of which too much was rejected is left out in part:
 * its other labels are published.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { brandedFood, type DuckDb, literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../../run/pipeline.ts"
import {
  describeShare,
  isLeftOutInPart,
  isUnknownReject,
  leaveOutInPart,
  reasonKindSql,
  stageKnownRejects
} from "../../run/shares.ts"

type Db = DuckDb["Service"]

/** Creates the table `release.rejected_label`: the rejects of the form, by rowid, with the labels that they belong to. */
export const createRejectedLabels = (query: string) =>
  `create or replace table release.rejected_label as select "row", label from (${query}) where label is not null`

/** Every rejected record is a label, unless it repeats the id of another one. A rejected part belongs to a label. */
export const stageJsonRejects = (db: Db, feed: string) =>
  db.run(
    createRejectedLabels(`
      select rowid as "row", coalesce(case
        when feed <> ${literal(feed)} then case when json_valid(payload) then payload ->> 'fdcId' end
        else nullif(regexp_extract(reason, '^duplicate fdcId ([0-9]+)', 1), '')
      end, 'record ' || rowid) as label
      from ingest.reject where feed = ${literal(feed)} or starts_with(feed, ${literal(`${feed}/`)})`)
  )

/** Each label counts once. */
const countShare = (isUnknown: string) => `
  select
    count(distinct label)::integer as rejected,
    count(distinct label) filter (${isUnknown})::integer as unknown,
    ((select count(*) from branded_food.food)
      + count(distinct label) filter (label not in (select fdc_id::varchar from branded_food.food)))::integer as read
  from release.rejected_label join ingest.reject rejects on rejects.rowid = "row"`
const LabelShare = Schema.Struct({ read: Schema.Int, rejected: Schema.Int, unknown: Schema.Int })

/** A row of a rejected label has the reason of the label. */
const ownReason = "regexp_replace(reason, '^its label was rejected: ', '')"
const commonestReason = `
  select arg_min(reason, "row") as reason
  from (
    select "row", label, ${ownReason} as reason
    from release.rejected_label join ingest.reject rejects on rejects.rowid = "row"
  )
  group by ${reasonKindSql("reason")}
  order by count(distinct label) desc, min("row")
  limit 1`
const Reason = Schema.Struct({ reason: Schema.String })

/**
 * Returns the form if it is left out in part. The table of labels must contain only this form, and the table of rejected
 * labels its rejects.
 */
export const findPartlyRejected = Effect.fnUntraced(function* (
  run: Pick<RunContext, "layout" | "staging">,
  feed: string
) {
  const { db } = run.staging
  const countWith = (isUnknown: string) => Effect.map(db.all(LabelShare, countShare(isUnknown)), ([share]) => share)
  const all = yield* countWith("true")
  if (all === undefined || !isLeftOutInPart(all)) return undefined
  yield* stageKnownRejects(run, brandedFood, [feed])
  const share = (yield* countWith(isUnknownReject)) ?? all
  const [reason] = yield* db.all(Reason, commonestReason)
  const leftOut: FeedLeftOut = leaveOutInPart(feed, share.unknown, describeShare(share, "labels", reason?.reason))
  // the result of a run whose checks fail does not have it
  yield* Effect.logWarning("a release form is left out in part").pipe(
    Effect.annotateLogs({ feed, reason: leftOut.reason })
  )
  return leftOut
})
