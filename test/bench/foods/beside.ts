/** What runs of another data set cost beside so many foods: the time, and what the warehouse grows by. */
import { addGeneration } from "../../support/more-generations.ts"
import { start } from "../../support/programs.ts"
import { rounded } from "../statistics.ts"
import { bytesOf, megabytes } from "./sizes.ts"
import { timed } from "./timed.ts"

const ingestPrices = (home: string) =>
  timed("larder-ingest", () => start("larder-ingest", ["commodities"], { LARDER_HOME: home, LARDER_SOURCES: "sample" }))

export const measureBeside = async (home: string, foods: number) => {
  await ingestPrices(home)
  const measured = async (what: string, work: () => Promise<unknown>) => {
    const before = bytesOf(`${home}/warehouse/objects`)
    const startedAt = performance.now()
    await work()
    const seconds = rounded((performance.now() - startedAt) / 1000, 2)
    return [
      what,
      { foods, seconds, "new parts, MB": megabytes(bytesOf(`${home}/warehouse/objects`) - before) }
    ] as const
  }
  const rows = [
    await measured("commodities without a new price", () => ingestPrices(home)),
    await measured("one more price published", () => addGeneration(home, ["2026-09-30"]))
  ]
  console.table(Object.fromEntries(rows))
}
