/** The records of every pipeline run: tables of the warehouse schema `ingest`. Times are UTC. */
import { Schema } from "effect"
import { dataSets } from "./data-sets.ts"
import { described, inUnit, payload, refersTo } from "./described.ts"
import { FetchStatus, ReadOutcome } from "./storefront/records.ts"

const toRun = (description: string) => refersTo("ingest.run.run_id", described.text(description))
const toGeneration = (description: string) =>
  refersTo("ingest.generation.generation", described.textOrNull(description))
const runId = toRun("Run that wrote the row.")
const pipelineNames = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
  dataSets.map(({ pipeline }) => pipeline)
)
const pipeline = described.text(`Pipeline: ${pipelineNames}.`)
const feed = described.text("Feed within the pipeline, such as `gov-mars/1603`.")

const Origin = Schema.Literals(["live", "replay", "sample"])

export const RunRecord = Schema.Struct({
  run_id: described.text("Id of the run; sorts by start."),
  pipeline,
  origin: Origin.annotate({
    description:
      "Where the payloads came from: `live`, the network; `replay`, a recorded folder; or `sample`, the bundled samples."
  }),
  outcome: described.oneOf(
    ["published", "unchanged", "partial", "failed", "checks_failed", "interrupted"],
    "`published`: everything was read and new rows went live; `unchanged`: no row was new; `partial`: feeds were left out, all or in part (`ingest.left_out`), and the rest was published; `checks_failed`, `failed` and `interrupted` runs published nothing."
  ),
  started_at: described.text("When the run started, in UTC."),
  finished_at: described.text(
    "When everything had been read and merging began, or when the run ended without publishing; in UTC."
  ),
  generation: toGeneration("Generation in which the run changed its data set; null if it changed nothing."),
  window_from: described.textOrNull("First day requested with `--from`; null without it."),
  window_to: described.textOrNull("Last day requested with `--to`; null without it."),
  rows_read: described.integerOrNull(
    "Payload rows that were read: the sum of loaded, unchanged and rejected. Null if the run failed or was interrupted before everything was read."
  ),
  rows_loaded: described.integerOrNull("Payload rows with something new. Null if the run failed or was interrupted."),
  rows_unchanged: described.integerOrNull(
    "Payload rows with nothing new: already known, without a value, or of a metric that is not in the catalog. Null if the run failed or was interrupted."
  ),
  rows_rejected: described.integerOrNull(
    "Payload rows that could not be read; each is in `ingest.reject`. Null if the run failed or was interrupted before everything was read."
  ),
  message: described.textOrNull("What went wrong, in words; null if nothing did.")
})

export type RunRecord = typeof RunRecord.Type

export const Run = Schema.Struct({
  ...RunRecord.fields,
  recorded_in: refersTo(
    "ingest.generation.generation",
    described.text("Generation that recorded the run. Later generations sort later as text, up to larder-999999.")
  ),
  rebuilt_in: toGeneration(
    "Generation of the last rebuild that read the run's payloads again: the records of these payloads in `ingest` come from it. Null if there was none, or if that rebuild was rolled back."
  ),
  rolled_back_by: toGeneration(
    "Generation of the rollback that undid this run: the live data does not descend from the run. Null if it was not rolled back."
  )
}).annotate({
  identifier: "ingest.run",
  description: "One row per run of a pipeline, including runs that published nothing."
})

export const GenerationRow = Schema.Struct({
  generation: described.text("Id of the generation. Ids sort by number, up to larder-999999."),
  made_at: described.text("When it was made, by the clock of the machine that made it; in UTC."),
  made_by: described.text("User, machine and version of Larder that made it."),
  kind: described.oneOf(
    ["run", "rollback", "rebuild"],
    "What made the generation: a `run`, a `rollback`, or a `rebuild` of a data set from the raw archive."
  ),
  pipeline: described.textOrNull("Pipeline of the run, rollback or rebuild; null for a rollback of all data sets."),
  run_id: refersTo("ingest.run.run_id", described.textOrNull("The run; null for rollbacks and rebuilds.")),
  went_back_to: toGeneration(
    "Generation to which a rollback returned; null for other kinds, and if a data set was rolled back to before its first run."
  ),
  note: described.textOrNull("Reason given for a rollback; null if none."),
  rolled_back_by: toGeneration(
    "Generation of the rollback that undid this one: the live data set does not descend from it. Null if it was not rolled back."
  )
}).annotate({
  identifier: "ingest.generation",
  description: "One row per generation. Every run, every rollback and every rebuild makes one."
})

export const RawFile = Schema.Struct({
  raw_sha256: described.text("SHA-256 of the payload, its name in the raw archive."),
  url: described.text("Address of the request, without secrets."),
  pipeline,
  feed,
  run_id: toRun("Run that read the payload."),
  fetched_at: described.text("When it was fetched, in UTC."),
  bytes: inUnit("bytes", described.integer("Size of the payload in bytes.")),
  content_type: described.textOrNull("Content type of the response; null in recordings and bundled samples."),
  rows_read: described.integer("Rows in the payload."),
  rows_rejected: described.integer("Rows in the payload that could not be read."),
  rows_stated: described.integerOrNull("Rows that the payload says it has; null if it does not say that."),
  mapping_sha256: described.text("SHA-256 of the mapping with which the payload was last read."),
  window_from: described.textOrNull(
    "First day whose rows were used, if a run with `--from` read the payload last; null if all rows were."
  ),
  window_to: described.textOrNull("Last day whose rows were used; null if all rows were."),
  origin: Origin.annotate({
    description:
      "Where that run got the payload from: `live`, the network; `replay`, a recorded folder; or `sample`, the bundled samples, which are mostly generated."
  })
}).annotate({
  identifier: "ingest.raw_file",
  description:
    "One row per run, payload, address and feed: a payload that the run read, and that was not live before. It is in the raw archive, unless it was pruned. The live data was built from those in `ingest.live_raw_file`."
})

export const Reject = Schema.Struct({
  pipeline,
  feed,
  run_id: runId,
  raw_sha256: payload("Payload with the row"),
  position: described.integer(
    "Row in the payload, counted from 1. In CSV files of branded foods, the header is row 1, and a record with line breaks counts as one row. In their JSON files, it is the line."
  ),
  reason: described.text("Why the row could not be read; names the field."),
  payload: described.text("The row as it is in the payload.")
}).annotate({
  identifier: "ingest.reject",
  description:
    "One row per run, payload, feed, position and reason: a payload row that could not be read. No row is dropped silently. For a failed run, the first 10,000 are recorded. Those of the live data are in `ingest.live_reject`."
})

export const CheckResult = Schema.Struct({
  run_id: runId,
  pipeline,
  name: described.text("Name of the check."),
  severity: described.oneOf(
    ["error", "warning"],
    "A failed check of severity `error` prevents the whole run from being published."
  ),
  bad_rows: described.integer("Rows that the check found; 0 means passed."),
  examples: described.text("Up to five of the bad rows, as a JSON array."),
  description: described.text("What is true if the check passes.")
}).annotate({
  identifier: "ingest.check_result",
  description: "One row per run and check (`name`): a check that ran before a generation went live, with its result."
})

/** The result of a check, without the run that it belongs to. */
export type CheckOutcome = Omit<typeof CheckResult.Type, "run_id" | "pipeline">

export const LeftOut = Schema.Struct({
  run_id: runId,
  pipeline,
  feed,
  kind: described.oneOf(
    ["untrusted", "unreachable", "partial"],
    "`untrusted`: the response is not what was requested, or is incomplete; `unreachable`: there was no response; `partial`: only a part of it was read, and that part was published."
  ),
  reason: described.text("Why, in words. If rows were rejected: their share, and the commonest reason.")
}).annotate({
  identifier: "ingest.left_out",
  description:
    "One row per run and feed: a feed or store that the run could not read, did not trust, or read only in part. What it did not read keeps its earlier values. What is left out of the live data is in `ingest.live_left_out`."
})

/** A feed that a run skipped, without the run and pipeline that it belongs to. */
export interface FeedLeftOut extends Pick<typeof LeftOut.Type, "feed" | "kind" | "reason"> {
  /** An earlier run recorded these rejects with the same text, so they do not change the exit code of this run. */
  readonly is_known?: boolean
}

export const DataSetRow = Schema.Struct({
  pipeline: described.text("Pipeline that publishes the data set."),
  schema_name: described.text("Schema of the warehouse that contains it."),
  title: described.text("Name of the data set."),
  description: described.text("What the data set contains, and whether it consists of bundled samples."),
  origin: Origin.annotate({
    description:
      "`sample` if any row is a bundled sample; otherwise `live` if any row is from the network; otherwise `replay`, for recordings only."
  }),
  is_sample: described.flag(
    "Whether it contains bundled samples. Most of their values are generated, and are not market data."
  ),
  licence: described.text("Terms of the rows."),
  attribution: described.text("The source to credit when the rows are shown."),
  source_url: described.textOrNull(
    "Address of the source; null if each row has its own. Samples have the format of that source, not its content."
  ),
  newest_on: described.textOrNull(
    "Newest day in the data set: of an observation, a release or a read of a store. It can be in the future, because some prices are announced before their month begins."
  ),
  generation: refersTo("ingest.generation.generation", described.text("Generation that last changed the data set."))
}).annotate({
  identifier: "ingest.data_set",
  description:
    "One row per data set that is loaded (`pipeline`): what it is, where its rows came from, and whether they are samples."
})

export const Cursor = Schema.Struct({
  pipeline,
  feed,
  run_id: runId,
  read_to: described.text("Newest day up to which the feed was read; the next run starts some days before it."),
  mapping_sha256: described.text(
    "SHA-256 of the feed's mapping; when it changes, the next run reads the whole history again."
  )
}).annotate({
  identifier: "ingest.cursor",
  description:
    "One row per run and feed: how far the run read it, if that or its mapping changed. The next run continues from `ingest.live_cursor`."
})

export const UnknownField = Schema.Struct({
  pipeline,
  feed,
  field: described.text("Name of the field in the payload."),
  run_id: toRun("Run that first found the field."),
  example: described.text("A value of the field, shortened.")
}).annotate({
  identifier: "ingest.unknown_field",
  description:
    "One row per run, feed and field: a field of payloads that the mapping does not read, such as a newly added one, when a run found it first. Its values are nowhere in the warehouse, but in the raw archive. It is not an error, but should be checked. A run after a rollback or a failed run finds it again: `ingest.live_unknown_field` has each field once."
})

export const OddValue = Schema.Struct({
  pipeline,
  feed,
  kind: described.oneOf(
    ["unreadable", "unmatched", "unlisted"],
    "`unreadable`: an optional field whose text was not understood, so it is null; `unmatched`: a row with a price that belongs to no metric; `unlisted`: a grade, quality or application that the catalog neither expects nor contradicts, so the row was published."
  ),
  field: described.text("Name of the field in the payload, or the names of several, separated by commas."),
  said: described.text("What it said: the text as in the payload, shortened to 200 characters."),
  rows: described.integer("Rows with that text in the payload in which a run first found it."),
  run_id: toRun("Run that first found the text.")
}).annotate({
  identifier: "ingest.odd_value",
  description:
    "One row per run, feed, kind, field and text (`said`) that was not understood, when a run found it first. The rows of the text are not rejected: it is outside of read = loaded + unchanged + rejected. A run after a rollback or a failed run finds it again: `ingest.live_odd_value` has each text once."
})

export const StoreReadRow = Schema.Struct({
  run_id: toRun("Run that read the store."),
  store_id: described.text(
    "Store: as in `storefront.store.store_id`, unless only failed or rolled-back runs have read it."
  ),
  read_at: described.text("When the store was read, in UTC."),
  fetch_status: FetchStatus.annotate({
    description:
      "`complete`; `partial`: some of the store could not be read, so nothing was withdrawn, except products if `has_all_products` is true, and collections if the outcome is `rejected`; `failed`: no data of the store was loaded."
  }),
  ...ReadOutcome.fields,
  pages_read: described.integer(
    "Responses of the store that were read, including empty last ones; 1 for a feed that is one file."
  ),
  products_read: described.integer("Published products that were found."),
  has_all_products: described.flag(
    "Whether the whole list of products was read, so that missing products were withdrawn. The collections do not matter for this."
  ),
  is_taken: described.flag(
    "Whether the result of the read was loaded. False if the read failed, if its result was not trusted, or if a later read of the store was published first."
  ),
  collections_read: described.integer("Collections that were found."),
  currency: described.textOrNull("ISO 4217 currency in which the prices were served; null if unknown."),
  seconds: inUnit("seconds", described.number("How long the read took, in seconds.")),
  feed: described.text("Name of the store in `ingest.left_out` and `ingest.raw_file`, such as `store/shop.example`."),
  sale_changes_at: described.textOrNull(
    "When the first sale after the read begins or ends, in UTC: the store is then due again. Null if its feed states no such time."
  ),
  due_from: described.timeOrNull(
    "Until when later runs do not request the store, except for such a sale: `LARDER_STORE_MIN_INTERVAL` after the run read its list, in UTC. Null for reads that an earlier version recorded."
  ),
  due_by: described.timeOrNull(
    "From when on every run requests the store, if its list has it: `LARDER_STORE_MAX_INTERVAL` after the run read its list, in UTC. A rebuild computes both times with the settings of its own time. Null for reads that an earlier version recorded."
  )
}).annotate({
  identifier: "ingest.store_read",
  description: "One row per run and store: a read of the store, including reads that failed or found nothing new."
})

export const Freshness = Schema.Struct({
  pipeline,
  kind: described.oneOf(
    ["metric", "final_values", "release_form", "store", "feed", "data_set"],
    "What is judged: `metric`: the values of a metric of commodities; `final_values`: its final values, if its report has a section of them; `release_form`: a form of the releases of branded foods; `store`: a store; `feed`: any other feed; `data_set`: a data set that is not loaded."
  ),
  subject: described.text(
    "Which one: `commodity.metric.metric_name` of a metric and of final values, the feed, `storefront.store.domain`, or the pipeline of a data set."
  ),
  feed: described.textOrNull(
    "Feed that it is read from, as in `ingest.left_out`; null for a data set. Of a metric with provisional and final values, the feed of the provisional ones: the row of the kind `final_values` has the other."
  ),
  newest_on: described.dayOrNull(
    "Newest day that was read: of a value of the metric itself, of a final one for `final_values`, of a release whose address states its day, or of the last read of a store that did not fail, in UTC. Null if there is none."
  ),
  last_complete_read_at: described.timeOrNull(
    "When it was last read to its end, in UTC, even if it was unchanged or rows of it were rejected. Null if it never was, or if no run reads it any more."
  ),
  expected_at: described.timeOrNull(
    "When the next value or read is expected, in UTC. A value: at the time in `commodity.metric.publishes_on` for the period after `newest_on`, or after the newest value of its feed if `commodity.metric.printed` is `sometimes`. A final value: the same, with `final_publishes_on`. A release form, or any other feed: seven days after the last complete read. A store: after the time without a new price or availability before that read, but not before `ingest.store_read.due_from` or within a day, and not after `due_by`. Null if nothing is expected."
  ),
  late_at: described.timeOrNull(
    "From when on it is late without that value or read, in UTC. A value or final value: two working days after `expected_at`, a daily one after one; there is no calendar of holidays. A release form, or any other feed: 14 days after the last complete read. A store: after twice its time. Null if nothing is expected."
  ),
  left_out: described.textOrNull(
    "What is left out of it, as `ingest.live_left_out.kind`: `untrusted` or `unreachable` if the last attempt could not read it, otherwise `partial` if a part is missing; null if nothing is, or if no run reads it any more."
  ),
  state: described.oneOf(
    ["fresh", "late", "ended", "sample", "not_loaded", "not_read"],
    "`fresh`: nothing is overdue; `late`: the next value or read did not come in time; or a series that ended lacks its last values; or a metric that is always printed has no value, although others of its feed have; or its schedule is not understood, so that its due date is unknown; `ended`: a series that gets no more values, or a store that was late already when a live run requested others of its list, but not this one: it is no longer on that list, or what runs no longer read: see `commodity.inactive`; `sample`: bundled samples, which are never late; `not_loaded`: its data set was never published; `not_read`: no value of its feed was ever read; or it was never read completely; or it is not late yet, but the last attempt could not read it."
  ),
  why: described.text(
    "The reason for the state, in words, and the day after which its report came without a number for the metric, or that it never had one."
  )
}).annotate({
  identifier: "ingest.freshness",
  description:
    "One row per metric, per metric with final values, per form of the releases of branded foods, per other feed, per store, and per data set that is not loaded: how new it is, and whether something is overdue. Computed when it is asked, with the time of the query."
})
