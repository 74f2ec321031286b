/** The records of every pipeline run: tables of the warehouse schema `ingest`. Times are UTC. */
import { Schema } from "effect"
import { dataSets } from "./data-sets.ts"
import { FetchStatus } from "./storefront/records.ts"

const described = (description: string) => Schema.String.annotate({ description })
const runId = described("Run that wrote the row: `ingest.run.run_id`.")
const names = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(dataSets.map(({ pipeline }) => pipeline))
const pipeline = described(`Pipeline: ${names}.`)
const feed = described("Feed within the pipeline, such as `gov-mars/1603`.")
const rawFile = described("SHA-256 of the payload, its name in the raw archive: `ingest.raw_file.raw_sha256`.")

const Origin = Schema.Literals(["live", "replay", "sample"])

/** The record of a run. */
export const RunRecord = Schema.Struct({
  run_id: described("Id of the run; sorts by start."),
  pipeline,
  origin: Origin.annotate({
    description: "Where the payloads came from: the network, a recorded folder, or the bundled samples."
  }),
  outcome: Schema.Literals(["published", "unchanged", "partial", "failed", "checks_failed", "interrupted"]).annotate({
    description:
      "`published`: everything was read and new rows went live; `unchanged`: no row was new; `partial`: some feeds were left out (`ingest.left_out`), the others were published; `checks_failed`, `failed` and `interrupted` runs published nothing."
  }),
  started_at: described("When the run started, in UTC."),
  finished_at: described(
    "When everything had been read and merging began, or when the run ended without publishing; in UTC."
  ),
  generation: Schema.NullOr(Schema.String).annotate({
    description: "Generation in which the run changed its data set; null if it changed nothing."
  }),
  window_from: Schema.NullOr(Schema.String).annotate({ description: "First day asked for with --from; null if none." }),
  window_to: Schema.NullOr(Schema.String).annotate({ description: "Last day asked for with --to; null if none." }),
  rows_read: Schema.NullOr(Schema.Int).annotate({
    description:
      "Payload rows read: always loaded + unchanged + rejected. Null where the run failed or was interrupted before all was read."
  }),
  rows_loaded: Schema.NullOr(Schema.Int).annotate({
    description: "Payload rows that stated something new. Null where the run failed or was interrupted."
  }),
  rows_unchanged: Schema.NullOr(Schema.Int).annotate({
    description:
      "Payload rows that stated nothing new: known already, without a value, or of no metric in the catalog. Null where the run failed or was interrupted."
  }),
  rows_rejected: Schema.NullOr(Schema.Int).annotate({
    description:
      "Payload rows that could not be read; each is in `ingest.reject`. Null where the run failed or was interrupted before all was read."
  }),
  message: Schema.NullOr(Schema.String).annotate({ description: "What went wrong, for people; null if nothing did." })
})

export type RunRecord = typeof RunRecord.Type

export const Run = Schema.Struct({
  ...RunRecord.fields,
  recorded_in: described(
    "Generation that has the record of the run: later ones come later in text order, up to larder-999999."
  ),
  rebuilt_in: Schema.NullOr(Schema.String).annotate({
    description:
      "Generation of the last rebuild that read the payloads of the run again: what `ingest` says of them is from there. Null where none did, and where that rebuild was rolled back."
  }),
  rolled_back_by: Schema.NullOr(Schema.String).annotate({
    description:
      "Generation of the rollback that went back behind this run: what is live does not descend from it. Null where it counts."
  })
}).annotate({
  identifier: "ingest.run",
  description: "One row per run of a pipeline, also of runs that published nothing."
})

export const GenerationRow = Schema.Struct({
  generation: described("Id of the generation; sorts by its number up to larder-999999."),
  made_at: described("When it was made, by the clock of the machine that made it; in UTC."),
  made_by: described("Person, machine and version of Larder."),
  kind: Schema.Literals(["run", "rollback", "rebuild"]).annotate({
    description: "Why there is this generation: a run, a rollback, or a rebuild of a data set from the raw archive."
  }),
  pipeline: Schema.NullOr(Schema.String).annotate({
    description: "Pipeline of the run, or of the only data set that a rollback or a rebuild was for; null for all."
  }),
  run_id: Schema.NullOr(Schema.String).annotate({ description: "The run; null for rollbacks and rebuilds." }),
  went_back_to: Schema.NullOr(Schema.String).annotate({
    description:
      "Generation that a rollback went back to; null for others, and where a data set went back to before its first run."
  }),
  note: Schema.NullOr(Schema.String).annotate({
    description: "The reason that was given for a rollback; null if none."
  }),
  rolled_back_by: Schema.NullOr(Schema.String).annotate({
    description:
      "Generation of the rollback that went back behind this one: what is live of the data set does not descend from it. Null where it counts."
  })
}).annotate({
  identifier: "ingest.generation",
  description: "One row per generation: every run, every rollback and every rebuild makes one."
})

export const RawFile = Schema.Struct({
  raw_sha256: described("SHA-256 of the payload, its name in the raw archive."),
  url: described("Address that was asked, without secrets."),
  pipeline,
  feed,
  run_id: described("Run that first fetched this payload from this address."),
  fetched_at: described("When it was fetched, in UTC."),
  bytes: Schema.Int.annotate({ description: "Size of the payload in bytes." }),
  content_type: Schema.NullOr(Schema.String).annotate({
    description: "Content-Type of the answer; null in recordings."
  }),
  rows_read: Schema.Int.annotate({ description: "Rows in the payload." }),
  rows_rejected: Schema.Int.annotate({ description: "Rows in the payload that could not be read." }),
  mapping_sha256: described("SHA-256 of the mapping that the payload was last read with."),
  origin: Origin.annotate({
    description:
      "Where that run had the payload from: the network, a recorded folder, or the bundled samples, which are mostly generated."
  })
}).annotate({
  identifier: "ingest.raw_file",
  description:
    "Payloads that runs read; each is in the raw archive. What is live was built from those in `ingest.live_raw_file`."
})

export const Reject = Schema.Struct({
  pipeline,
  feed,
  run_id: runId,
  raw_sha256: rawFile,
  position: Schema.Int.annotate({
    description:
      "Row in the payload, counted from 1. In CSV files of branded foods the header is 1 and a record that holds line breaks counts once; in their JSON files it is the line."
  }),
  reason: described("Why the row could not be read; names the field."),
  payload: described("The row as it stands in the payload.")
}).annotate({
  identifier: "ingest.reject",
  description:
    "Payload rows that could not be read. Nothing is dropped silently; of a run that failed, the first 10,000 are here. Those that count for what is live are in `ingest.live_reject`."
})

export const CheckResult = Schema.Struct({
  run_id: runId,
  pipeline,
  name: described("Name of the check."),
  severity: Schema.Literals(["error", "warning"]).annotate({
    description: "A failed check of severity `error` keeps the whole run from being published."
  }),
  bad_rows: Schema.Int.annotate({ description: "Rows that the check found; 0 means passed." }),
  examples: described("Up to five of the bad rows, as a JSON array."),
  description: described("What the check holds.")
}).annotate({
  identifier: "ingest.check_result",
  description: "Results of the checks that ran before a generation went live."
})

/** The result of a check, without the run that it belongs to. */
export type CheckOutcome = Omit<typeof CheckResult.Type, "run_id" | "pipeline">

export const LeftOut = Schema.Struct({
  run_id: runId,
  pipeline,
  feed,
  kind: Schema.Literals(["untrusted", "unreachable", "partial"]).annotate({
    description:
      "`untrusted`: what came is not what was asked for, or not whole; `unreachable`: nothing came; `partial`: a store that was read in part."
  }),
  reason: described("Why, for people.")
}).annotate({
  identifier: "ingest.left_out",
  description: "Feeds and stores that a run could not read or did not trust. Their last values stay."
})

/** A feed that a run left out, without the run and pipeline that it belongs to. */
export type FeedLeftOut = Pick<typeof LeftOut.Type, "feed" | "kind" | "reason">

export const DataSetRow = Schema.Struct({
  pipeline: described("Pipeline that publishes the data set."),
  schema_name: described("Schema of this warehouse that holds it."),
  title: described("Name of the data set."),
  description: described("What the data set holds, and whether it is made of bundled samples."),
  origin: Origin.annotate({
    description:
      "`sample` where it holds any row of the bundled samples, else `live` where it holds any row from the network, else `replay`: recordings alone."
  }),
  is_sample: Schema.Boolean.annotate({
    description: "Whether it holds rows of the bundled samples. Most of their values are generated: not market data."
  }),
  licence: described("Terms of the rows."),
  attribution: described("Who is to be named beside the rows."),
  source_url: Schema.NullOr(Schema.String).annotate({
    description:
      "Where the source is; null where each row has its own. Samples have the format of that source, not its content."
  }),
  newest_on: Schema.NullOr(Schema.String).annotate({
    description:
      "Newest day that the data set states: of an observation, a release or a read of a store. Prices that are announced before their month begins are of a later day than today."
  }),
  generation: described("Generation that changed the data set last.")
}).annotate({
  identifier: "ingest.data_set",
  description: "One row per data set: what it is, where its rows came from, and whether they are samples."
})

export const Cursor = Schema.Struct({
  pipeline,
  feed,
  run_id: runId,
  read_to: described("Newest day that the feed has been read to; the next run looks back from here."),
  mapping_sha256: described(
    "SHA-256 of the feed's mapping; when it changes, the next run reads the whole history again."
  )
}).annotate({
  identifier: "ingest.cursor",
  description: "How far each feed was read. The next run goes on from `ingest.live_cursor`."
})

export const UnknownField = Schema.Struct({
  pipeline,
  feed,
  field: described("Name of the field as it stands in the payload."),
  run_id: described("Run that first met the field."),
  example: described("A value of the field, shortened.")
}).annotate({
  identifier: "ingest.unknown_field",
  description: "Fields that upstream added and no mapping knows: worth a look, never an error."
})

const flag = (description: string) => Schema.Boolean.annotate({ description })
const whole = (description: string) => Schema.Int.annotate({ description })
const text = (description: string) => Schema.NullOr(Schema.String).annotate({ description })

export const StoreReadRow = Schema.Struct({
  run_id: described("Run that read the store: `ingest.run.run_id`."),
  store_id: described("Store: `storefront.store.store_id`."),
  read_at: described("When the store was asked, in UTC."),
  fetch_status: FetchStatus.annotate({
    description:
      "complete; partial: some of it could not be read, so that nothing was withdrawn, but for products where `has_all_products`; failed: nothing was taken from it."
  }),
  outcome: described("How the read ended, in finer classes than `fetch_status`, such as throttled, blocked or window."),
  outcome_detail: text("What was met where the read stopped, for people; null where nothing was."),
  pages_read: whole(
    "Answers of the store that were read, the last empty ones included; 1 for a feed that is one file."
  ),
  products_read: whole("Published products that were found."),
  has_all_products: flag(
    "Whether the list of products was read whole, so that those not found were withdrawn, whatever became of the collections."
  ),
  is_taken: flag(
    "Whether what was found went into the warehouse. False where the read failed, where what it found was not trusted, and where a later read of the store had been published before it."
  ),
  collections_read: whole("Collections that were found."),
  currency: text("ISO 4217 currency that the prices were served in; null where it is not known."),
  seconds: Schema.Finite.annotate({ description: "How long the read took, in seconds." })
}).annotate({
  identifier: "ingest.store_read",
  description: "Every read of every store, one row each, also those that failed or found nothing new."
})
