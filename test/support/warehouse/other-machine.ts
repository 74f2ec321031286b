/** Another machine that publishes to the same warehouse. */
import type { Layout } from "@larder/warehouse"
import { Effect, type FileSystem, type Path, type Scope } from "effect"
import { withDepot } from "./example-data-set.ts"

/** Another machine with the same warehouse: it does not wait for a lock of this one. */
export const onAnotherMachine = (layout: Layout): Layout => ({
  ...layout,
  lockOf: (pipeline) => layout.lockOf(`${pipeline}-elsewhere`)
})

/** The same warehouse, with another publication just before the first manifest is written. */
export const overtakeWith = <E>(
  layout: Layout,
  other: Effect.Effect<unknown, E, FileSystem.FileSystem | Path.Path | Scope.Scope>
) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | Scope.Scope>()
    let isFirst = true
    const { putText } = layout.depot
    const depot: Layout["depot"] = {
      ...layout.depot,
      putText: (name, text) => {
        if (!isFirst) return putText(name, text)
        isFirst = false
        return Effect.andThen(Effect.orDie(Effect.provide(other, context)), putText(name, text))
      }
    }
    return withDepot(layout, depot)
  })
