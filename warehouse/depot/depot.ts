/**
 * The interface of a depot, which stores generations: files under names that end in their SHA-256, such as
 * `objects/ab/ab12…`, and JSON texts under names such as `generations/000000012.json`. They never change. If several
 * programs write the same name at the same time, exactly one succeeds, and the others receive false. Only hints are
 * overwritten.
 */
import { Clock, Effect, type Option, Schema, type Stream } from "effect"
import { causeText } from "../disk.ts"

/** The identity of a file, independent of its location. */
export const ObjectId = Schema.Struct({
  sha256: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  bytes: Schema.Int
})
export type ObjectId = typeof ObjectId.Type

export const objectName = (sha256: string) => `objects/${sha256.slice(0, 2)}/${sha256}`

/** Names the newest text of `generations/`, for hosts that cannot list files. Later texts are found by number. */
export const hintName = "generations/latest.json"
export const Hint = Schema.Struct({ newest: Schema.String })

export class DepotUnusable extends Schema.TaggedError<DepotUnusable>()("DepotUnusable", {
  /** What failed, such as "write generations/000000012.json in /srv/larder/warehouse". */
  attempt: Schema.String,
  cause: Schema.Defect(),
  /** What to do, as a sentence. */
  advice: Schema.String
}) {
  override get message() {
    return `Cannot ${this.attempt}: ${causeText(this.cause)}. ${this.advice}`
  }
}

export interface Depot {
  /** For people: a folder or an address. */
  readonly location: string
  /**
   * Puts a text under a new name. False if the name exists already. Texts that can race must differ: if a response is
   * lost, the stored text shows which program was first.
   */
  readonly putText: (name: string, text: string) => Effect.Effect<boolean, DepotUnusable>
  readonly readText: (name: string) => Effect.Effect<Option.Option<string>, DepotUnusable>
  /** Puts a file under a name with its SHA-256, durably. Writes nothing if the name exists already. */
  readonly putFile: (name: string, object: ObjectId, file: string) => Effect.Effect<void, DepotUnusable>
  readonly readBytes: (name: string, from: number) => Stream.Stream<Uint8Array, DepotUnusable>
  /** Puts a text, replacing an earlier one. Only for hints: a reader may get an outdated one. */
  readonly putHint: (name: string, text: string) => Effect.Effect<void, DepotUnusable>
  /** Names that begin with `prefix` and come after `after`, in order; only the last ones if the host cannot list. */
  readonly list: (prefix: string, after?: string) => Effect.Effect<ReadonlyArray<string>, DepotUnusable>
  /** When each name in a folder and its subfolders was stored, in milliseconds since 1970. */
  readonly listTimes: (folder: string) => Effect.Effect<ReadonlyMap<string, number>, DepotUnusable>
  /** Removes names that are no longer needed. A missing name is not a failure. */
  readonly remove: (names: ReadonlyArray<string>) => Effect.Effect<void, DepotUnusable>
  /** Removes unfinished files that killed programs left before this time, in milliseconds since 1970. */
  readonly removeUnfinished: (before: number) => Effect.Effect<void, DepotUnusable>
}

export const putObject = (depot: Depot, object: ObjectId, file: string) =>
  depot.putFile(objectName(object.sha256), object, file)

/** When each object was stored, in milliseconds since 1970, by its SHA-256. */
export const listObjectTimes = (depot: Depot): Effect.Effect<ReadonlyMap<string, number>, DepotUnusable> =>
  Effect.map(depot.listTimes("objects/"), (times) => {
    const objects = new Map<string, number>()
    for (const [name, storedAt] of times) {
      const sha256 = /^objects\/\w\w\/([0-9a-f]{64})$/.exec(name)?.[1]
      if (sha256 !== undefined) objects.set(sha256, storedAt)
    }
    return objects
  })

/** In milliseconds. Younger files are kept, because files are stored before a manifest or the lake names them. */
const minUnnamedAge = 86_400_000

/**
 * Files that were stored before this time may be removed if nothing names them. The newest file was just stored,
 * and its time is from the depot's clock: this machine's clock may be far ahead of it.
 */
export const oldestKeptTime = (times: ReadonlyMap<string, number>) =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) =>
      Math.min(
        now,
        Array.from(times.values()).reduce((a, b) => Math.max(a, b), 0)
      ) - minUnnamedAge
  )
