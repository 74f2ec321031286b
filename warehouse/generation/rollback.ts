/** Going back to an earlier generation: swinging the link. The next publication starts from there. */
import { Effect, Option, Path, Schema } from "effect"
import { currentFile, generations, type Layout } from "./layout.ts"
import { withPublishLock } from "./lock.ts"
import { swing } from "./publish.ts"

export class NoSuchGeneration extends Schema.TaggedError<NoSuchGeneration>()("NoSuchGeneration", {
  wanted: Schema.String,
  kept: Schema.Array(Schema.String)
}) {
  override get message() {
    return `There is no generation ${this.wanted}. Kept are: ${this.kept.join(", ") || "none"}.`
  }
}

/** Ids of the kept generations, oldest first, and which one is live. */
export const listGenerations = Effect.fnUntraced(function* (layout: Layout) {
  const path = yield* Path.Path
  const live = Option.map(yield* currentFile(layout), (file) => path.basename(file))
  return (yield* generations(layout)).map(({ name }) => ({
    generation: path.basename(name, ".duckdb"),
    live: Option.contains(live, name)
  }))
})

/** Makes `to` the live generation; without it, the one before the live one. */
export const rollback = Effect.fn("Generation.rollback")(function* (layout: Layout, to: Option.Option<string>) {
  return yield* withPublishLock(
    layout,
    Effect.gen(function* () {
      const kept = yield* listGenerations(layout)
      const live = kept.findIndex((generation) => generation.live)
      const before = kept.slice(0, Math.max(0, live)).at(-1)
      const wanted = Option.getOrUndefined(to) ?? before?.generation
      if (wanted === undefined || !kept.some(({ generation }) => generation === wanted)) {
        return yield* new NoSuchGeneration({
          wanted: wanted ?? "before the live one",
          kept: kept.map(({ generation }) => generation)
        })
      }
      yield* swing(layout, `${wanted}.duckdb`)
      return wanted
    })
  )
})
