/** Prepares publishing: pulls the live generation, and proves that only one of several writers of a name wins. */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import { requireNoneAlone } from "./alone.ts"
import type { Layout } from "./layout.ts"
import { pull } from "./pull.ts"

/** A proof takes some seconds and a hundred requests, so a machine proves each depot only once. */
const requireProven = Effect.fnUntraced(function* ({ depot, seen }: Layout) {
  const note = path.join(seen, "depot")
  const noted = yield* Effect.promise(() => readFile(note, "utf8").catch(() => undefined))
  if (noted === `${depot.location}\n`) return
  const { proven } = yield* Effect.promise(() => import("../depot/proven.ts"))
  yield* proven(depot)
  yield* Effect.ignore(
    Effect.tryPromise(async () => {
      await mkdir(seen, { recursive: true })
      await writeFile(note, `${depot.location}\n`)
    })
  )
})

/**
 * Pulls what other machines published to a shared depot. Without a shared depot, it fails if a data set was pulled
 * alone: publishing would give that data set a second history.
 */
export const catchUp = Effect.fn("Generation.catchUp")(function* (layout: Layout) {
  if (layout.depot === layout.local) return yield* requireNoneAlone(layout)
  yield* requireProven(layout)
  yield* pull(layout)
})
