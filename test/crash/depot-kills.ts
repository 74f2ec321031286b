/**
 * Kills real programs in the middle of a request to the bucket that machines share, while they publish or pull. The request
 * gets no response, so the program is killed exactly there. The bucket always contains a complete generation, and the next
 * run completes.
 */
import { readdirSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { copyHome, makeTestFolder, removeFolder } from "../end-to-end/ingesting.ts"
import { sharedDepot } from "../support/depots/shared-depot.ts"
import { itLive } from "../support/it-live.ts"
import { addGeneration, recordDays } from "../support/more-generations.ts"
import { type Ended, type Environment, run, start, waitForExit } from "../support/programs.ts"
import { queryFiles } from "./killed-runs.ts"

type Shared = Effect.Success<typeof sharedDepot>

/** Runs a command and kills it in the request with this number, from 0. A command with fewer requests ends by itself. */
const runKilledAt = async (
  { state }: Shared["service"],
  args: ReadonlyArray<string>,
  environment: Environment,
  at: number
): Promise<Ended> => {
  const child = start("larder-ingest", args, environment)
  let requests = 0
  state.isStalled = () => {
    if (requests++ !== at) return false
    child.kill("SIGKILL")
    return true
  }
  const result = await waitForExit(child)
  state.isStalled = () => false
  return result
}

const selectPriceDays =
  "select observed_on::varchar as day from commodity.observation where metric_name = 'butter_exch_spot_close_daily' and observed_on > '2026-09-29' order by day"
const fetchDays = async (home: string) => ((await queryFiles(home, selectPriceDays))[0] ?? []).map(({ day }) => day)
const [first, second] = ["2026-09-30", "2026-10-01"] as const

/** A bucket with a generation of the first day, the machine that published it, and a recording with one more day. */
const published = Effect.gen(function* () {
  const { environment, service } = yield* sharedDepot
  const publisher = makeTestFolder()
  const recorded = makeTestFolder()
  recordDays(recorded, [first, second])
  yield* Effect.promise(() => addGeneration(publisher, [first], environment))
  const objects = new Map(service.objects)
  /** Restores the bucket. */
  const restore = () => {
    service.objects.clear()
    for (const [key, object] of objects) service.objects.set(key, object)
  }
  return { environment, service, publisher, recorded, restore }
})

const pull = async (home: string, environment: Environment) => {
  const { code, stderr } = await run("larder-ingest", ["pull"], { LARDER_HOME: home, ...environment })
  assert.strictEqual(code, 0, stderr)
}

const isUnfinished = (name: string) => /\.(part|building)$/.test(name)

/** Each request of a program is a moment. `requestsPerStep` sets how many requests lie between two tested moments. */
export const testDepotKills = (requestsPerStep: { readonly publishing: number; readonly pulling: number }) => {
  describe("a program that is killed in the middle of a request to the bucket", () => {
    itLive("publishes a complete generation or none, and the next run completes", () =>
      Effect.gen(function* () {
        const { environment, publisher, recorded, restore, service } = yield* published
        yield* Effect.promise(async () => {
          const args = ["commodities", "--replay", recorded]
          const dayLists = new Set<string>()
          let kills = 0
          for (let at = 0, isKilled = true; isKilled; at += requestsPerStep.publishing) {
            restore()
            const home = copyHome(publisher)
            const settings = { LARDER_HOME: home, ...environment }
            const { code, signal, stderr } = await runKilledAt(service, args, settings, at)
            isKilled = signal === "SIGKILL"
            if (isKilled) kills += 1
            if (!isKilled) assert.strictEqual(code, 4, stderr)
            const laptop = makeTestFolder()
            await pull(laptop, environment)
            const days = await fetchDays(laptop)
            dayLists.add(days.join())
            assert.include([first, `${first},${second}`], days.join(), `request ${at}`)

            const next = await run("larder-ingest", args, settings)
            assert.strictEqual(next.code, 4, next.stderr)
            await pull(laptop, environment)
            assert.deepStrictEqual(await fetchDays(laptop), [first, second], `request ${at}`)
            const [runs] = await queryFiles(
              laptop,
              "select count(distinct run_id)::integer as ids, count(*)::integer as runs from ingest.run"
            )
            assert.deepStrictEqual(runs, [{ ids: runs?.[0]?.runs, runs: runs?.[0]?.runs }])
            removeFolder(home)
          }
          assert.isAbove(kills, 2)
          assert.deepStrictEqual([...dayLists].sort(), [first, `${first},${second}`])
        })
      })
    )
    itLive("pulls a complete generation or none, and the next pull completes", () =>
      Effect.gen(function* () {
        const { environment, publisher, service } = yield* published
        yield* Effect.promise(async () => {
          const laptop = makeTestFolder()
          await pull(laptop, environment)
          await addGeneration(publisher, [first, second], environment)
          for (let at = 0, isKilled = true; isKilled; at += requestsPerStep.pulling) {
            const home = copyHome(laptop)
            const settings = { LARDER_HOME: home, ...environment }
            const { signal } = await runKilledAt(service, ["pull"], settings, at)
            isKilled = signal === "SIGKILL"
            assert.deepStrictEqual(await fetchDays(home), isKilled ? [first] : [first, second], `request ${at}`)
            await pull(home, environment)
            assert.deepStrictEqual(await fetchDays(home), [first, second])
            const warehouse = path.join(home, "warehouse")
            assert.deepStrictEqual(readdirSync(warehouse).filter(isUnfinished), [])
            assert.deepStrictEqual(readdirSync(path.join(warehouse, "incoming")), [])
            removeFolder(home)
          }
        })
      })
    )
  })
}
