/**
 * Reads and makes generations. A generation is a numbered manifest, which names the parts of each data set and records
 * what happened. Every run makes one, even a failed run, and so do rollbacks and rebuilds. Manifests and parts never change.
 * The highest number is live.
 */
import { randomUUID } from "node:crypto"
import { hostname, userInfo } from "node:os"
import { Run, version } from "@larder/schemas"
import { Clock, Effect, Option, Schema } from "effect"
import { type Depot, type DepotUnusable, ObjectId } from "../depot/depot.ts"

/** Increases when the meaning of a manifest changes. Before the first release, earlier ones are refused, not converted. */
const format = 2

/** These names become file names, and a manifest may come from another machine. */
const FileName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][\w.-]*$/))

const DataSetPart = Schema.Struct({ name: FileName, ...ObjectId.fields })
export type DataSetPart = typeof DataSetPart.Type

/** A data set in a generation. Numbers are numbers of generations. */
const DataSetEntry = Schema.Struct({
  /** Version of the tables in the parts. */
  schema: Schema.Int,
  /** Hash of its tables and views. A version with others refuses the data set. */
  definition: Schema.String,
  /** Version of the mapping that made all its rows from payloads. */
  mapping: Schema.Int,
  /** The generation that published these parts. */
  published_in: Schema.Int,
  /** The generation that made them live: the one that published them, or a rollback. */
  changed_in: Schema.Int,
  /** The generation that published the parts that these were built from; null for the first. */
  built_on: Schema.NullOr(Schema.Int),
  origins: Schema.Array(Run.fields.origin),
  /** Newest day in the data; null if it has none, or if it depends on the reads of stores. */
  newest_on: Schema.NullOr(Schema.String),
  /** Generations whose runs were rolled back: the parts are not built on them. */
  undone: Schema.Array(Schema.Struct({ first: Schema.Int, last: Schema.Int, by: Schema.Int })),
  /** The database first, then its sidecar files. Empty if the data set was rolled back to before its first run. */
  parts: Schema.Array(DataSetPart)
})
export type DataSetEntry = typeof DataSetEntry.Type

export const isLoaded = (entry: DataSetEntry | undefined): entry is DataSetEntry =>
  entry !== undefined && entry.parts.length > 0

/** The records of the generations from `first` to `last`. */
const IngestPart = Schema.Struct({ ...ObjectId.fields, first: Schema.Int, last: Schema.Int })
export type IngestPart = typeof IngestPart.Type

/** Why the generation was made. Fields that do not apply are null. */
const GenerationEvent = Schema.Struct({
  kind: Schema.Literals(["run", "rollback", "rebuild"]),
  pipeline: Schema.NullOr(Schema.String),
  run_id: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(Run.fields.outcome),
  rows_loaded: Schema.NullOr(Schema.Int),
  /** For a rollback: the generation that it returned to. */
  went_back_to: Schema.NullOr(Schema.Int),
  note: Schema.NullOr(Schema.String)
})
export type GenerationEvent = typeof GenerationEvent.Type

const Manifest = Schema.Struct({
  format: Schema.Literal(format),
  number: Schema.Int,
  /** Random. A program that reads its own id back has written the manifest itself. */
  id: Schema.String,
  made_at: Schema.String,
  /** Person, machine and version. */
  made_by: Schema.String,
  /** Number of the generation that it was made from; null for the first. */
  replaces: Schema.NullOr(Schema.Int),
  event: GenerationEvent,
  /** Keyed by pipeline. */
  data_sets: Schema.Record(FileName, DataSetEntry),
  ingest: Schema.Struct({ schema: Schema.Int, parts: Schema.Array(IngestPart) })
})
export type Manifest = typeof Manifest.Type

const idPrefix = "larder-"
/** Ids of generations, as people and clients see them: `larder-000012`. */
export const generationId = (number: number) => idPrefix + String(number).padStart(6, "0")
/** SQL for the id of a number, and for the number in an id. */
export const generationIdSql = (number: string) => `printf('${idPrefix}%06d', ${number})`
export const generationNumberSql = (id: string) => `substr(${id}, ${idPrefix.length + 1})::integer`

const folder = "generations/"
export const manifestName = (number: number) => `${folder}${String(number).padStart(9, "0")}.json`
const numberIn = (name: string) => Number(/^generations\/(\d+)\.json$/.exec(name)?.[1] ?? Number.NaN)

export class ManifestUnusable extends Schema.TaggedError<ManifestUnusable>()("ManifestUnusable", {
  location: Schema.String,
  file: Schema.String,
  fault: Schema.String,
  advice: Schema.String
}) {
  override get message() {
    return `${this.file} in ${this.location} ${this.fault}. ${this.advice}`
  }
}

const AnyFormat = Schema.fromJsonString(Schema.Struct({ format: Schema.Int }))
const decodeFormat = Schema.decodeUnknownOption(AnyFormat)
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))
const encode = Schema.encodeSync(Schema.fromJsonString(Manifest))

const explain = (written: number): Pick<ManifestUnusable, "fault" | "advice"> => {
  if (written > format) {
    return {
      fault: "was written by a newer version of Larder",
      advice: "Update Larder on this machine, servers first."
    }
  }
  if (written < format) {
    return {
      fault: "was written by an earlier version of Larder, and no version converts it",
      advice:
        "Nothing was changed. Move the warehouse aside, and rebuild it from the raw archive with: npx larder-ingest rebuild"
    }
  }
  return { fault: "is damaged", advice: "Restore it from a backup; nothing was changed." }
}

const parse = (depot: Depot, name: string, text: string) => {
  const manifest = decode(text)
  if (Option.isSome(manifest) && manifest.value.number === numberIn(name)) return Effect.succeed(manifest.value)
  const written = Option.getOrUndefined(decodeFormat(text))?.format ?? format
  return Effect.fail(new ManifestUnusable({ location: depot.location, file: name, ...explain(written) }))
}

/** The generation with this number; undefined if it was never made, or has been removed. */
export const readManifest = Effect.fnUntraced(function* (depot: Depot, number: number) {
  const name = manifestName(number)
  const text = yield* depot.readText(name)
  return Option.isSome(text) ? yield* parse(depot, name, text.value) : undefined
})

/** Numbers of the kept generations, in ascending order. */
export const listNumbers = (depot: Depot, after = 0) =>
  Effect.map(depot.list(folder, after === 0 ? undefined : manifestName(after)), (names) =>
    names.map(numberIn).filter((number) => Number.isInteger(number))
  )

/** The newest generation; undefined before the first. The search starts after the generation with the number `known`. */
export const newestManifest = Effect.fnUntraced(function* (
  depot: Depot,
  known = 0
): Effect.fn.Return<Manifest | undefined, DepotUnusable | ManifestUnusable> {
  const newest = (yield* listNumbers(depot, known)).at(-1) ?? known
  return newest === 0 ? undefined : yield* readManifest(depot, newest)
})

/** All kept generations, in ascending order. */
export const readKeptManifests = Effect.fnUntraced(function* (depot: Depot) {
  const numbers = yield* listNumbers(depot)
  const manifests = yield* Effect.forEach(numbers, (number) => readManifest(depot, number), { concurrency: 8 })
  return manifests.filter((manifest) => manifest !== undefined)
})

/** The person, machine and version that make a generation now. */
export const currentMaker = () => {
  let person = "somebody"
  try {
    person = userInfo().username
  } catch {
    // a user without a name, as in some containers
  }
  return `${person}@${hostname()}, Larder ${version}`
}

export type Change = Pick<Manifest, "event" | "data_sets" | "ingest">

/**
 * Makes the next generation. If another program was faster, `change` is called again for the newest generation. A lost
 * response does not lead to a second generation: the id shows whose manifest was stored.
 */
export const makeGeneration = Effect.fn("Generation.make")(function* <E, R>(
  depot: Depot,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) {
  const id = randomUUID()
  for (;;) {
    const base = yield* newestManifest(depot)
    const number = (base?.number ?? 0) + 1
    const manifest: Manifest = {
      format,
      number,
      id,
      made_at: new Date(yield* Clock.currentTimeMillis).toISOString(),
      made_by: currentMaker(),
      replaces: base?.number ?? null,
      ...(yield* change(base, number))
    }
    if (yield* depot.putText(manifestName(number), encode(manifest))) return manifest
    const first = yield* readManifest(depot, number)
    if (first?.id === id) return first
  }
})
