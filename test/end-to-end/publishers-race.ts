/** Three programs that publish data sets of their own at the same time, round after round: each generation has one winner. */
import { assert } from "@effect/vitest"
import { generationId, keptManifestsOf } from "@larder/warehouse/generation/manifest.ts"
import { Effect } from "effect"
import { otherProcess } from "../support/warehouse/other-process.ts"
import { aLayout, ask } from "../support/warehouse/pantry.ts"

const names = ["attic", "cellar", "shed"]

export const publishersRace = (rounds: number) =>
  Effect.gen(function* () {
    const layout = yield* aLayout
    const told = yield* Effect.forEach(
      names,
      Effect.fnUntraced(function* (schema) {
        const publisher = yield* otherProcess({ do: "obey" })
        const runs: Array<{ readonly run_id: string; readonly pipeline: string; readonly generation: string }> = []
        for (let round = 1; round <= rounds; round++) {
          const run_id = `${schema}-${String(round).padStart(3, "0")}`
          const found = { deliveries: [{ item: `${schema} ${round}` }] }
          const generation = yield* publisher.order({ do: "publish", home: layout.home, found, schema, run_id })
          runs.push({ run_id, pipeline: schema, generation })
        }
        return runs
      }),
      { concurrency: "unbounded" }
    )
    const all = told.flat()
    assert.deepStrictEqual(
      yield* ask(layout, "select run_id, pipeline, generation from ingest.run order by run_id"),
      all
    )
    for (const schema of names) {
      assert.deepStrictEqual(
        yield* ask(layout, `select item from ${schema}.delivery order by run_id`),
        Array.from({ length: rounds }, (_, index) => ({ item: `${schema} ${index + 1}` }))
      )
    }
    assert.deepStrictEqual(
      all.map(({ generation }) => generation).toSorted(),
      all.map((_, index) => generationId(index + 1))
    )
    for (const { number, replaces } of yield* keptManifestsOf(layout.depot)) {
      assert.strictEqual(replaces, number === 1 ? null : number - 1)
    }
  })
