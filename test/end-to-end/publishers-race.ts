/** Three programs that publish data sets of their own at the same time, round after round: each generation has one winner. */
import { mkdirSync } from "node:fs"
import { assert } from "@effect/vitest"
import { generationId, type Layout, readKeptManifests, refreshOpened } from "@larder/warehouse"
import { Effect, Exit, Fiber } from "effect"
import { chanceFrom, newSeed } from "../crash/chance.ts"
import { aLayout, queryWarehouse } from "../support/warehouse/example-data-set.ts"
import { otherProcess } from "../support/warehouse/other-process.ts"

const names = ["attic", "cellar", "shed"]

const publication = ({ home }: Layout, schema: string, round: number) => ({
  do: "publish" as const,
  home,
  found: { deliveries: [{ item: `${schema} ${round}` }] },
  schema,
  run_id: `${schema}-${String(round).padStart(3, "0")}`
})
/** Each of the kept generations was made from the one before it. */
const assertChain = Effect.fnUntraced(function* ({ depot }: Layout) {
  for (const { number, replaces } of yield* readKeptManifests(depot)) {
    assert.strictEqual(replaces, number === 1 ? null : number - 1)
  }
})

export const publishersRace = (rounds: number) =>
  Effect.gen(function* () {
    const layout = yield* aLayout
    const told = yield* Effect.forEach(
      names,
      Effect.fnUntraced(function* (schema) {
        const publisher = yield* otherProcess({ do: "run commands" })
        const runs: Array<{ readonly run_id: string; readonly pipeline: string; readonly generation: string }> = []
        for (let round = 1; round <= rounds; round++) {
          const next = publication(layout, schema, round)
          runs.push({ run_id: next.run_id, pipeline: schema, generation: yield* publisher.send(next) })
        }
        return runs
      }),
      { concurrency: "unbounded" }
    )
    const all = told.flat()
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
 * The same, each publisher killed with -9 in about every other round, at a random moment within the time that its first publication took: a
 * publication has its run and its row, or neither. Returns how many kills came before their publication was live. `LARDER_CRASH_SEED`
 * repeats the moments.
 */
export const publishersKilled = (rounds: number) =>
  Effect.gen(function* () {
    const layout = yield* aLayout
    yield* Effect.sync(() => mkdirSync(layout.dir, { recursive: true })) // for the locks
    const seed = newSeed()
    const told = yield* Effect.forEach(
      names,
      Effect.fnUntraced(function* (schema, at) {
        const chance = chanceFrom(seed + at)
        const aPublisher = Effect.gen(function* () {
          const started = yield* otherProcess({ do: "run commands" })
          assert.strictEqual(yield* started.send({ do: "try", file: layout.lockOf(schema) }), "free")
          return started
        })
        let publisher = yield* aPublisher
        let longest = 0
        const ended: Array<{
          readonly run_id: string
          readonly isKilled: boolean
          readonly generation: string | undefined
        }> = []
        for (let round = 1; round <= rounds; round++) {
          const next = publication(layout, schema, round)
          const answer = yield* Effect.forkChild(Effect.exit(publisher.send(next)))
          const isKilled = round > 1 && chance.oneOf([true, false])
          const startedAt = performance.now()
          if (isKilled) {
            yield* Effect.sleep(chance.between(0, longest))
            yield* publisher.kill("SIGKILL")
            publisher = yield* aPublisher
          }
          const exit = yield* Fiber.join(answer)
          if (round === 1) longest = Math.ceil(performance.now() - startedAt)
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
    for (const { generation, run_id } of told.flat()) {
      if (generation !== undefined) assert.deepInclude(runs, { run_id, generation }, `seed ${seed}`)
    }
    assert.deepStrictEqual(
      runs.map(({ generation }) => generation),
      runs.map((_, index) => generationId(index + 1)),
      `seed ${seed}`
    )
    yield* assertChain(layout)
    const recorded = new Set(runs.map(({ run_id }) => run_id))
    const killed = told.flat().filter(({ isKilled }) => isKilled)
    return { kills: killed.length, unpublished: killed.filter(({ run_id }) => !recorded.has(run_id)).length }
  })
