/** A home that is published once for a file of tests. Each test works on a copy of its own. */
import { cpSync } from "node:fs"
import type { Layout } from "@larder/warehouse"
import { Effect } from "effect"
import { onceForFile } from "../once-for-file.ts"
import { aLayout } from "./pantry.ts"

export const copied = <E, R>(make: Effect.Effect<Layout, E, R>) => {
  const original = onceForFile(make)
  return Effect.gen(function* () {
    const { home } = yield* original
    const copy = yield* aLayout
    yield* Effect.sync(() => cpSync(home, copy.home, { recursive: true, verbatimSymlinks: true }))
    return copy
  })
}
