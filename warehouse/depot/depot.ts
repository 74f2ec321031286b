/**
 * A depot stores generations: files under names that end in their SHA-256, such as `objects/ab/ab12…`, and texts under
 * names such as `generations/000000012.json`. What was put never changes and is never overwritten. If several programs
 * put the same name at the same time, one of them is first, and the others learn of it. Only hints, and files for
 * readers that are other programs, are overwritten.
 */
import { Effect, type Option, Schema, type Stream } from "effect"

/** The identity of a file, independent of its place. */
export const ObjectId = Schema.Struct({
  sha256: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  bytes: Schema.Int
})
export type ObjectId = typeof ObjectId.Type

/** `objects/ab/ab12…`: the name of an object in every depot. */
export const objectName = (sha256: string) => `objects/${sha256.slice(0, 2)}/${sha256}`

/** Names the newest text of `generations/`, for hosts that cannot list files. Later texts are found by number. */
export const hintName = "generations/latest.json"
export const Hint = Schema.Struct({ newest: Schema.String })

/** An operation of the depot failed. */
export class DepotUnusable extends Schema.TaggedError<DepotUnusable>()("DepotUnusable", {
  /** What was tried, such as "write generations/000000012.json in /srv/larder/warehouse". */
  attempt: Schema.String,
  cause: Schema.Defect(),
  /** What to do, as a sentence. */
  advice: Schema.String
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `It is impossible to ${this.attempt}: ${reason}. ${this.advice}`
  }
}

export interface Depot {
  /** For people: a folder or an address. */
  readonly location: string
  /**
   * Puts a text under a new name. False if the name exists already. Texts that can race must differ: if an answer is
   * lost, the stored text tells which program was first.
   */
  readonly putText: (name: string, text: string) => Effect.Effect<boolean, DepotUnusable>
  readonly text: (name: string) => Effect.Effect<Option.Option<string>, DepotUnusable>
  /** Puts a file under a name with its SHA-256, durably. Writes nothing if the name exists already. */
  readonly putFile: (name: string, object: ObjectId, file: string) => Effect.Effect<void, DepotUnusable>
  /** The bytes of a file from `from` on. */
  readonly bytes: (name: string, from: number) => Stream.Stream<Uint8Array, DepotUnusable>
  /**
   * Puts a text, replacing an earlier one. Only for hints: a reader may get an outdated one, and must find the truth
   * without it.
   */
  readonly putHint: (name: string, text: string) => Effect.Effect<void, DepotUnusable>
  /** Puts a file, replacing an earlier one atomically: a reader gets one of the two, whole. */
  readonly replaceFile: (name: string, object: ObjectId, file: string) => Effect.Effect<void, DepotUnusable>
  /**
   * Names that begin with `prefix` and come after `after`, in order. A host that cannot list gives only the last ones.
   */
  readonly list: (prefix: string, after?: string) => Effect.Effect<ReadonlyArray<string>, DepotUnusable>
  /** The time at which each name in a folder and its subfolders was put, in milliseconds since 1970. */
  readonly dated: (folder: string) => Effect.Effect<ReadonlyMap<string, number>, DepotUnusable>
  /** Removes names that are no longer needed. A missing name is not a failure. */
  readonly remove: (names: ReadonlyArray<string>) => Effect.Effect<void, DepotUnusable>
  /** Removes unfinished files that killed programs left before this time, in milliseconds since 1970. */
  readonly sweep: (before: number) => Effect.Effect<void, DepotUnusable>
}

export const putObject = (depot: Depot, object: ObjectId, file: string) =>
  depot.putFile(objectName(object.sha256), object, file)

/** The time at which each object was put, in milliseconds since 1970, by its SHA-256. */
export const datedObjects = (depot: Depot): Effect.Effect<ReadonlyMap<string, number>, DepotUnusable> =>
  Effect.map(depot.dated("objects/"), (dated) => {
    const found = new Map<string, number>()
    for (const [name, put] of dated) {
      const sha256 = /^objects\/\w\w\/([0-9a-f]{64})$/.exec(name)?.[1]
      if (sha256 !== undefined) found.set(sha256, put)
    }
    return found
  })
