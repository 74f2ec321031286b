/**
 * Measures the bars of branded foods with synthetic releases, in a temporary folder that is removed at the end: 30 GB at
 * two million foods.
 */
import { cpus } from "node:os"
import { inTemporaryFolder } from "../temporary-folder.ts"
import { printAnalysis } from "./analysis.ts"
import { measureCsv, measureJson, unzipName } from "./loading.ts"
import { measureServing } from "./serving.ts"

const printHeading = (text: string) => console.log(`\n${text}`)

type JsonLoad = Awaited<ReturnType<typeof measureJson>>

const printJsonBars = (loads: ReadonlyArray<JsonLoad>) => {
  const [smallest, largest] = [loads[0], loads.at(-1)]
  if (!smallest || !largest) return
  console.table({
    "B4 published ÷ unzip (≤ 4)": { measured: largest["published ÷ unzip"] },
    "B4 peak memory, MB (≤ 3000)": { measured: largest["peak memory, MB"] },
    [`B4 time per food at ${largest.foods} ÷ at ${smallest.foods} (1: linear)`]: {
      measured: (smallest["foods/s"] / largest["foods/s"]).toFixed(2)
    }
  })
}

const measureLoading = async (folder: string, sizes: ReadonlyArray<number>) => {
  printHeading(`JSON release to published generation, including search, compared with ${unzipName} to /dev/null`)
  const loads = []
  for (const foods of sizes) loads.push(await measureJson(folder, foods))
  console.table(loads)
  printJsonBars(loads)
  printHeading(
    "CSV release to published generation, including search, compared with DuckDB reading the files into plain tables"
  )
  const releases = []
  for (const labels of sizes) releases.push(await measureCsv(folder, labels))
  console.table(releases.map(({ times }) => times))
  console.table({ "B5 published ÷ DuckDB (≤ 2.5)": { measured: releases.at(-1)?.times["published ÷ DuckDB"] } })
  printHeading("Size of the generation on the disk")
  console.table(releases.map(({ sizes }) => sizes))
  for (const { analysis, times } of releases) if (analysis !== undefined) printAnalysis(times.labels, analysis)
}

/** Measures each size. The bars apply to the largest. */
export const measureFoods = async (foods: ReadonlyArray<number>) => {
  const sizes = foods.toSorted((a, b) => a - b)
  await inTemporaryFolder("foods", async (folder) => {
    printHeading(`Branded foods: ${cpus().length} cores, Node ${process.version}`)
    await measureLoading(folder, sizes)
    for (const size of sizes) await measureServing(folder, size)
  })
}
