/** Before anything is published: this machine has what is live, and the depot keeps one of several who put the same name. */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import { requireNoneAlone } from "./alone.ts"
import type { Layout } from "./layout.ts"
import { pull } from "./pull.ts"

/** A proof takes some seconds and a hundred requests, so that a machine asks for one of each depot. */
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

/** Brings what others published, where machines share a depot. Elsewhere a data set that was pulled alone would get a second history. */
export const catchUp = Effect.fn("Generation.catchUp")(function* (layout: Layout) {
  if (layout.depot === layout.local) return yield* requireNoneAlone(layout)
  yield* requireProven(layout)
  yield* pull(layout)
})
