/**
 * A generation is a numbered manifest: which parts each data set consists of, and what happened. Every run makes one, also a run
 * that failed, and so does every rollback. Manifests and parts never change. The highest number is what is live.
 */
import { randomUUID } from "node:crypto"
import { hostname, userInfo } from "node:os"
import { Run } from "@larder/schemas/ingest.ts"
import { version } from "@larder/schemas/version.ts"
import { Clock, Effect, Option, Schema } from "effect"
import { type Depot, type DepotUnusable, ObjectId } from "../depot/depot.ts"

/** Counts up when a manifest means something else than before. */
const format = 1

/** Names become those of files, and a manifest may come from elsewhere. */
const FileName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][\w.-]*$/))

export const Part = Schema.Struct({ name: FileName, ...ObjectId.fields })
export type Part = typeof Part.Type

const Origin = Run.fields.origin

/** A data set as a generation has it. Numbers are those of generations. */
export const DataSetEntry = Schema.Struct({
  /** Of the tables in the parts: counts up whenever a version of Larder defines them otherwise. */
  schema: Schema.Int,
  /** Hash of the tables, views and comments in the database: where it is another one, the next new row brings this version's. */
  definition: Schema.optionalKey(Schema.String),
  /** The one that published these parts. */
  published_in: Schema.Int,
  /** The one that made them live: the same, or a rollback to it. */
  changed_in: Schema.Int,
  /** The one that published what these parts were built from; null for the first. */
  built_on: Schema.NullOr(Schema.Int),
  /** Where the rows came from that are in the parts. */
  origins: Schema.Array(Origin),
  /** Newest day that the data states; null where it has none, or where reads tell it. */
  newest_on: Schema.NullOr(Schema.String),
  /** Runs of these generations were rolled back: the parts do not descend from them. */
  undone: Schema.Array(Schema.Struct({ first: Schema.Int, last: Schema.Int, by: Schema.Int })),
  /** The database first, then the files beside it. None where the data set was rolled back to before its first run. */
  parts: Schema.Array(Part)
})
export type DataSetEntry = typeof DataSetEntry.Type

/** Whether there is anything to serve. */
export const isLoaded = (entry: DataSetEntry | undefined): entry is DataSetEntry =>
  entry !== undefined && entry.parts.length > 0

/** The records of the generations from `first` to `last`. */
export const IngestPart = Schema.Struct({ ...ObjectId.fields, first: Schema.Int, last: Schema.Int })
export type IngestPart = typeof IngestPart.Type

/** Why there is this generation. What does not apply is null. */
const Event = Schema.Struct({
  kind: Schema.Literals(["run", "rollback", "rebuild"]),
  pipeline: Schema.NullOr(Schema.String),
  run_id: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(Run.fields.outcome),
  rows_loaded: Schema.NullOr(Schema.Int),
  /** Of a rollback: the generation that it went back to. */
  went_back_to: Schema.NullOr(Schema.Int),
  note: Schema.NullOr(Schema.String)
})
export type Event = typeof Event.Type

export const Manifest = Schema.Struct({
  format: Schema.Literal(format),
  number: Schema.Int,
  /** Random: tells a program whether it or a faster one put the manifest. */
  id: Schema.String,
  made_at: Schema.String,
  /** Person, machine and version. */
  made_by: Schema.String,
  /** Number of the generation that it was made from; null for the first. */
  replaces: Schema.NullOr(Schema.Int),
  event: Event,
  /** By the name of the pipeline. */
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

/** The generation of this number; none where it was never made, or was removed since. */
export const readManifest = Effect.fnUntraced(function* (depot: Depot, number: number) {
  const name = manifestName(number)
  const text = yield* depot.text(name)
  return Option.isSome(text) ? Option.some(yield* decoded(depot, name, text.value)) : Option.none<Manifest>()
})

/** Numbers of the generations that are kept, in their order. */
export const listNumbers = (depot: Depot, after = 0) =>
  Effect.map(depot.list(folder, after === 0 ? undefined : manifestName(after)), (names) =>
    names.map(numberIn).filter((number) => Number.isInteger(number))
  )

/** The newest generation; none before the first. One that is known by its number need not be looked for from the first on. */
export const newestManifest = Effect.fnUntraced(function* (
  depot: Depot,
  known = 0
): Effect.fn.Return<Option.Option<Manifest>, DepotUnusable | ManifestUnusable> {
  const newest = (yield* listNumbers(depot, known)).at(-1) ?? known
  return newest === 0 ? Option.none() : yield* readManifest(depot, newest)
})

/** All generations that are kept, in their order. */
export const keptManifestsOf = Effect.fnUntraced(function* (depot: Depot) {
  const read = yield* Effect.forEach(yield* listNumbers(depot), (number) => readManifest(depot, number), {
    concurrency: 8
  })
  return read.flatMap((manifest) => (Option.isSome(manifest) ? [manifest.value] : []))
})

/** Person, machine and version: who makes a generation. */
export const madeBy = () => {
  let person = "somebody"
  try {
    person = userInfo().username
  } catch {
    // a user without a name, as in some containers
  }
  return `${person}@${hostname()}, Larder ${version}`
}

/** What a generation changes in the one that it is made from. */
export type Change = Pick<Manifest, "event" | "data_sets" | "ingest">

/**
 * Makes the next generation. Where others were faster, `change` is asked again, for the newest one: it decides what becomes of
 * what it has prepared. An answer that got lost does not make a second one: the id tells whose the manifest is.
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
