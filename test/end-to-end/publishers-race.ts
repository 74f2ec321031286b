/** Three processes concurrently publish one data set each, round after round: each generation has one publisher. */
import { mkdirSync } from "node:fs"
import { assert } from "@effect/vitest"
import { generationId, type Layout, refreshOpened } from "@larder/warehouse"
import { readKeptManifests } from "@larder/warehouse/generation/manifest.ts"
import { Effect, Exit, Fiber } from "effect"
import { chanceFrom, newSeed } from "../crash/chance.ts"
import { aLayout, queryWarehouse } from "../support/warehouse/example-data-set.ts"
import { otherProcess } from "../support/warehouse/other-process.ts"

const names = ["attic", "cellar", "shed"]

const makePublication = ({ home }: Layout, schema: string, round: number) => ({
  do: "publish" as const,
  home,
  found: { deliveries: [{ item: `${schema} ${round}` }] },
  schema,
  run_id: `${schema}-${String(round).padStart(3, "0")}`
})
/** Asserts that each of the kept generations was made from the previous one. */
const assertChain = Effect.fnUntraced(function* ({ depot }: Layout) {
  for (const { number, replaces } of yield* readKeptManifests(depot)) {
    assert.strictEqual(replaces, number === 1 ? null : number - 1)
  }
})

export const publishersRace = (rounds: number) =>
  Effect.gen(function* () {
    const layout = yield* aLayout
    const publications = yield* Effect.forEach(
      names,
      Effect.fnUntraced(function* (schema) {
        const publisher = yield* otherProcess({ do: "run commands" })
        const runs: Array<{ readonly run_id: string; readonly pipeline: string; readonly generation: string }> = []
        for (let round = 1; round <= rounds; round++) {
          const next = makePublication(layout, schema, round)
          runs.push({ run_id: next.run_id, pipeline: schema, generation: yield* publisher.send(next) })
        }
        return runs
      }),
      { concurrency: "unbounded" }
    )
    const all = publications.flat()
    assert.deepStrictEqual(
      yield* queryWarehouse(layout, "select run_id, pipeline, generation from ingest.run order by run_id"),
      all
    )
    for (const schema of names) {
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, `select item from ${schema}.delivery order by run_id`),
        Array.from({ length: rounds }, (_, index) => ({ item: `${schema} ${index + 1}` }))
      )
    }
    assert.deepStrictEqual(
      all.map(({ generation }) => generation).toSorted(),
      all.map((_, index) => generationId(index + 1))
    )
    yield* assertChain(layout)
  })

/**
 * The same, but each publisher is killed with -9 in about every other round, at a random moment within the duration of its
 * first publication: a publication has both its run and its row, or neither. Returns how many kills prevented a publication.
 * `LARDER_CRASH_SEED` repeats the moments.
 */
export const publishersKilled = (rounds: number) =>
  Effect.gen(function* () {
    const layout = yield* aLayout
    yield* Effect.sync(() => mkdirSync(layout.dir, { recursive: true })) // for the locks
    const seed = newSeed()
    const publications = yield* Effect.forEach(
      names,
      Effect.fnUntraced(function* (schema, at) {
        const chance = chanceFrom(seed + at)
        const startPublisher = Effect.gen(function* () {
          const started = yield* otherProcess({ do: "run commands" })
          assert.strictEqual(yield* started.send({ do: "try", file: layout.lockOf(schema) }), "free")
          return started
        })
        let publisher = yield* startPublisher
        let maxDelay = 0
        const ended: Array<{
          readonly run_id: string
          readonly isKilled: boolean
          readonly generation: string | undefined
        }> = []
        for (let round = 1; round <= rounds; round++) {
          const next = makePublication(layout, schema, round)
          const running = yield* Effect.forkChild(Effect.exit(publisher.send(next)))
          const isKilled = round > 1 && chance.oneOf([true, false])
          const startedAt = performance.now()
          if (isKilled) {
            yield* Effect.sleep(chance.between(0, maxDelay))
            yield* publisher.kill("SIGKILL")
            publisher = yield* startPublisher
          }
          const exit = yield* Fiber.join(running)
          if (round === 1) maxDelay = Math.ceil(performance.now() - startedAt)
          if (!isKilled) assert.isTrue(Exit.isSuccess(exit), `seed ${seed}: ${exit}`)
          ended.push({ run_id: next.run_id, isKilled, generation: Exit.isSuccess(exit) ? exit.value : undefined })
        }
        return ended
      }),
      { concurrency: "unbounded" }
    )
    yield* refreshOpened(layout)
    const runs = yield* queryWarehouse(layout, "select run_id, generation from ingest.run order by generation")
    const deliveries = names.map((schema) => `select run_id from ${schema}.delivery`).join(" union all ")
    assert.deepStrictEqual(
      yield* queryWarehouse(layout, `from (${deliveries}) order by run_id`),
      runs.map(({ run_id }) => ({ run_id })).sort((a, b) => (String(a.run_id) < String(b.run_id) ? -1 : 1)),
      `seed ${seed}`
    )
    for (const { generation, run_id } of publications.flat()) {
      if (generation !== undefined) assert.deepInclude(runs, { run_id, generation }, `seed ${seed}`)
    }
    assert.deepStrictEqual(
      runs.map(({ generation }) => generation),
      runs.map((_, index) => generationId(index + 1)),
      `seed ${seed}`
    )
    yield* assertChain(layout)
    const recorded = new Set(runs.map(({ run_id }) => run_id))
    const killed = publications.flat().filter(({ isKilled }) => isKilled)
    return { kills: killed.length, unpublished: killed.filter(({ run_id }) => !recorded.has(run_id)).length }
  })
