/** Going back to an earlier generation: moving the link. The next publication starts from there. It also repairs a link that leads to none. */
import { Effect, Option, Path, Schema } from "effect"
import {
  currentFile,
  generationId,
  generationPattern,
  generations,
  idOf,
  type Layout,
  openGeneration
} from "./layout.ts"
import { withPublishLock } from "./lock.ts"
import { promoteAgain } from "./swing.ts"

export class NoSuchGeneration extends Schema.TaggedError<NoSuchGeneration>()("NoSuchGeneration", {
  wanted: Schema.String,
  kept: Schema.Array(Schema.String)
}) {
  override get message() {
    return `There is no generation ${this.wanted}. Kept are: ${this.kept.join(", ") || "none"}.`
  }
}

/** Ids of the kept generations, oldest first, and which one is live: none where the link leads to none. */
export const listGenerations = Effect.fnUntraced(function* (layout: Layout) {
  const path = yield* Path.Path
  const live = yield* Effect.catchTag(currentFile(layout), "NoLiveGeneration", () =>
    Effect.succeed(Option.none<string>())
  )
  const liveName = Option.map(live, (file) => path.basename(file))
  return (yield* generations(layout)).map(({ name }) => ({
    generation: idOf(name),
    live: Option.contains(liveName, name)
  }))
})

const Ancestor = Schema.Struct({ generation: Schema.String })
const ancestors = `
  select generation
  from ingest.run
  where generation is not null
  group by generation
  order by length(generation) desc, generation desc`

/** The generations that the live one was built from, newest first. After a rollback that is not the order of their numbers. */
const lineage = (live: string) =>
  Effect.scoped(Effect.flatMap(openGeneration(live), (db) => db.all(Ancestor, ancestors))).pipe(
    Effect.map((rows) => rows.map(({ generation }) => generation)),
    Effect.catch((error) =>
      Effect.as(Effect.logWarning(`${error.message} Going by the numbers of the generations.`), [])
    )
  )

const before = Effect.fnUntraced(function* (layout: Layout, kept: ReadonlyArray<string>) {
  const path = yield* Path.Path
  const live = yield* currentFile(layout)
  if (Option.isNone(live) || !generationPattern.test(path.basename(live.value))) return kept.at(-1)
  const id = idOf(path.basename(live.value))
  const ancestor = (yield* lineage(live.value)).find((generation) => generation !== id && kept.includes(generation))
  return ancestor ?? kept.filter((generation) => generation < id).at(-1)
})

/** `3` or `larder-000003`, as people name a generation. */
const named = (text: string) => (/^\d+$/.test(text) ? generationId(Number(text)) : text)

/** Makes `to`, a number or an id, the live generation; without it, the one that the live one was built from. */
export const rollback = Effect.fn("Generation.rollback")(function* (layout: Layout, to: Option.Option<string>) {
  const path = yield* Path.Path
  const choose = Effect.gen(function* () {
    const kept = (yield* generations(layout)).map(({ name }) => idOf(name))
    const wanted = Option.isSome(to) ? named(to.value) : yield* before(layout, kept)
    if (wanted !== undefined && kept.includes(wanted)) return wanted
    return yield* new NoSuchGeneration({ wanted: wanted ?? "before the live one", kept })
  })
  yield* choose // before there is a folder to lock
  return yield* withPublishLock(
    layout,
    Effect.gen(function* () {
      const wanted = yield* choose
      yield* Effect.scoped(openGeneration(path.join(layout.dir, `${wanted}.duckdb`)))
      yield* promoteAgain(layout, `${wanted}.duckdb`)
      return wanted
    })
  )
})
