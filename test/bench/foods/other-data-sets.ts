/** Measures runs of another data set in a warehouse with many foods: the time, and the growth of the warehouse. */
import { addGeneration } from "../../support/more-generations.ts"
import { start } from "../../support/programs.ts"
import { roundTo } from "../statistics.ts"
import { measureProcess } from "./processes.ts"
import { measureBytes, toMegabytes } from "./sizes.ts"

const ingestPrices = (home: string) =>
  measureProcess("larder-ingest", () =>
    start("larder-ingest", ["commodities"], { LARDER_HOME: home, LARDER_SOURCES: "sample" })
  )

export const measureOtherRuns = async (home: string, foods: number) => {
  await ingestPrices(home)
  const measureGrowth = async (name: string, work: () => Promise<unknown>) => {
    const before = measureBytes(`${home}/warehouse/objects`)
    const startedAt = performance.now()
    await work()
    const seconds = roundTo((performance.now() - startedAt) / 1000, 2)
    return [
      name,
      { foods, seconds, "new parts, MB": toMegabytes(measureBytes(`${home}/warehouse/objects`) - before) }
    ] as const
  }
  const rows = [
    await measureGrowth("commodities without a new price", () => ingestPrices(home)),
    await measureGrowth("one more price published", () => addGeneration(home, ["2026-09-30"]))
  ]
  console.table(Object.fromEntries(rows))
}
