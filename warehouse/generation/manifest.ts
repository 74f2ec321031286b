/**
 * A generation is a numbered manifest: it says which parts each data set consists of, and what happened. Every run
 * makes one, also a failed run, and so does every rollback. Manifests and parts never change. The highest number is
 * live.
 */
import { randomUUID } from "node:crypto"
import { hostname, userInfo } from "node:os"
import { Run, version } from "@larder/schemas"
import { Clock, Effect, Option, Schema } from "effect"
import { type Depot, type DepotUnusable, ObjectId } from "../depot/depot.ts"

/** Increases when the meaning of a manifest changes. */
const format = 1

/** These names become file names, and a manifest may come from another machine. */
const FileName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][\w.-]*$/))

export const Part = Schema.Struct({ name: FileName, ...ObjectId.fields })
export type Part = typeof Part.Type

const Origin = Run.fields.origin

/** A data set in a generation. Numbers are numbers of generations. */
export const DataSetEntry = Schema.Struct({
  /** Version of the tables in the parts. Increases whenever a version of Larder changes their definition. */
  schema: Schema.Int,
  /**
   * Hash of the tables, views and comments in the database. If this version's hash differs, the next publication with
   * new rows brings this version's definition.
   */
  definition: Schema.optionalKey(Schema.String),
  /** The generation that published these parts. */
  published_in: Schema.Int,
  /** The generation that made them live: the same, or a rollback to it. */
  changed_in: Schema.Int,
  /** The generation that published the parts that these were built from; null for the first. */
  built_on: Schema.NullOr(Schema.Int),
  /** Where the rows in the parts came from. */
  origins: Schema.Array(Origin),
  /** Newest day that the data states; null if it has none, or if the reads of stores tell it. */
  newest_on: Schema.NullOr(Schema.String),
  /** Generations whose runs were rolled back: the parts are not built on them. */
  undone: Schema.Array(Schema.Struct({ first: Schema.Int, last: Schema.Int, by: Schema.Int })),
  /** The database first, then its sidecar files. Empty if the data set was rolled back to before its first run. */
  parts: Schema.Array(Part)
})
export type DataSetEntry = typeof DataSetEntry.Type

/** Whether there is anything to serve. */
export const isLoaded = (entry: DataSetEntry | undefined): entry is DataSetEntry =>
  entry !== undefined && entry.parts.length > 0

/** The records of the generations from `first` to `last`. */
export const IngestPart = Schema.Struct({ ...ObjectId.fields, first: Schema.Int, last: Schema.Int })
export type IngestPart = typeof IngestPart.Type

/** Why the generation was made. Fields that do not apply are null. */
const Event = Schema.Struct({
  kind: Schema.Literals(["run", "rollback", "rebuild"]),
  pipeline: Schema.NullOr(Schema.String),
  run_id: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(Run.fields.outcome),
  rows_loaded: Schema.NullOr(Schema.Int),
  /** For a rollback: the generation that it went back to. */
  went_back_to: Schema.NullOr(Schema.Int),
  note: Schema.NullOr(Schema.String)
})
export type Event = typeof Event.Type

export const Manifest = Schema.Struct({
  format: Schema.Literal(format),
  number: Schema.Int,
  /** Random. It tells a program whether the stored manifest is its own or that of a faster program. */
  id: Schema.String,
  made_at: Schema.String,
  /** Person, machine and version. */
  made_by: Schema.String,
  /** Number of the generation that it was made from; null for the first. */
  replaces: Schema.NullOr(Schema.Int),
  event: Event,
  /** Keyed by pipeline. */
  data_sets: Schema.Record(FileName, DataSetEntry),
  ingest: Schema.Struct({ schema: Schema.Int, parts: Schema.Array(IngestPart) })
})
export type Manifest = typeof Manifest.Type

/** Ids of generations, as people and clients see them: `larder-000012`. */
export const generationId = (number: number) => `larder-${String(number).padStart(6, "0")}`

const folder = "generations/"
export const manifestName = (number: number) => `${folder}${String(number).padStart(9, "0")}.json`
const numberIn = (name: string) => Number(/^generations\/(\d+)\.json$/.exec(name)?.[1] ?? Number.NaN)

/** A manifest that this version cannot use. */
export class ManifestUnusable extends Schema.TaggedError<ManifestUnusable>()("ManifestUnusable", {
  location: Schema.String,
  name: Schema.String,
  fault: Schema.String,
  advice: Schema.String
}) {
  override get message() {
    return `${this.name} in ${this.location} ${this.fault}. ${this.advice}`
  }
}

const AnyFormat = Schema.fromJsonString(Schema.Struct({ format: Schema.Int }))
const decodeFormat = Schema.decodeUnknownOption(AnyFormat)
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))
const encode = Schema.encodeSync(Schema.fromJsonString(Manifest))

const decoded = (depot: Depot, name: string, text: string) => {
  const manifest = decode(text)
  if (Option.isSome(manifest) && manifest.value.number === numberIn(name)) return Effect.succeed(manifest.value)
  const written = decodeFormat(text)
  const isNewer = Option.isSome(written) && written.value.format > format
  return Effect.fail(
    new ManifestUnusable({
      location: depot.location,
      name,
      fault: isNewer ? "was written by a newer version of Larder" : "is damaged",
      advice: isNewer
        ? "Update Larder on this machine, servers first."
        : "Restore it from a backup; nothing was changed."
    })
  )
}

/** The generation with this number; none if it was never made, or has been removed. */
export const readManifest = Effect.fnUntraced(function* (depot: Depot, number: number) {
  const name = manifestName(number)
  const text = yield* depot.text(name)
  return Option.isSome(text) ? Option.some(yield* decoded(depot, name, text.value)) : Option.none<Manifest>()
})

/** Numbers of the kept generations, in ascending order. */
export const listNumbers = (depot: Depot, after = 0) =>
  Effect.map(depot.list(folder, after === 0 ? undefined : manifestName(after)), (names) =>
    names.map(numberIn).filter((number) => Number.isInteger(number))
  )

/** The newest generation; none before the first. `known` is the number of a generation at which the search starts. */
export const newestManifest = Effect.fnUntraced(function* (
  depot: Depot,
  known = 0
): Effect.fn.Return<Option.Option<Manifest>, DepotUnusable | ManifestUnusable> {
  const newest = (yield* listNumbers(depot, known)).at(-1) ?? known
  return newest === 0 ? Option.none() : yield* readManifest(depot, newest)
})

/** All kept generations, in ascending order. */
export const keptManifestsOf = Effect.fnUntraced(function* (depot: Depot) {
  const read = yield* Effect.forEach(yield* listNumbers(depot), (number) => readManifest(depot, number), {
    concurrency: 8
  })
  return read.flatMap((manifest) => (Option.isSome(manifest) ? [manifest.value] : []))
})

/** The person, machine and version that make a generation. */
export const madeBy = () => {
  let person = "somebody"
  try {
    person = userInfo().username
  } catch {
    // a user without a name, as in some containers
  }
  return `${person}@${hostname()}, Larder ${version}`
}

/** What a generation changes in the generation that it is made from. */
export type Change = Pick<Manifest, "event" | "data_sets" | "ingest">

/**
 * Makes the next generation. If another program was faster, `change` is called again for the newest generation, and
 * decides what happens to what it has prepared. A lost answer does not lead to a second generation: the id tells whose
 * manifest was stored.
 */
export const makeGeneration = Effect.fn("Generation.make")(function* <E, R>(
  depot: Depot,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) {
  const id = randomUUID()
  for (;;) {
    const base = Option.getOrUndefined(yield* newestManifest(depot))
    const number = (base?.number ?? 0) + 1
    const made_at = new Date(yield* Clock.currentTimeMillis).toISOString()
    const manifest: Manifest = {
      format,
      number,
      id,
      made_at,
      made_by: madeBy(),
      replaces: base?.number ?? null,
      ...(yield* change(base, number))
    }
    if (yield* depot.putText(manifestName(number), encode(manifest))) return manifest
    const first = yield* readManifest(depot, number)
    if (Option.isSome(first) && first.value.id === id) return first.value
  }
})
