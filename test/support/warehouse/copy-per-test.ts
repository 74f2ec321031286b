/** Makes a home once per test file, and gives each test a copy of it. */
import { cpSync } from "node:fs"
import type { Layout } from "@larder/warehouse"
import { Effect } from "effect"
import { oncePerFile } from "../once-per-file.ts"
import { aLayout } from "./example-data-set.ts"

export const copyPerTest = <E, R>(make: Effect.Effect<Layout, E, R>) => {
  const original = oncePerFile(make)
  return Effect.gen(function* () {
    const { home } = yield* original
    const copy = yield* aLayout
    yield* Effect.sync(() => cpSync(home, copy.home, { recursive: true, verbatimSymlinks: true }))
    return copy
  })
}
