/**
 * The bars of branded foods, on synthetic releases. Everything lies in one temporary folder, which is removed at the end:
 * 30 GB at two million foods.
 */
import { cpus } from "node:os"
import { inTemporaryFolder } from "../temporary-folder.ts"
import { measureCsv, measureJson, unzipper } from "./loading.ts"
import { printNotebook } from "./notebook.ts"
import { measureServing } from "./serving.ts"

const told = (text: string) => console.log(`\n${text}`)

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
  told(`JSON release to published generation, search included, against ${unzipper} to nowhere`)
  const loads = []
  for (const foods of sizes) loads.push(await measureJson(folder, foods))
  console.table(loads)
  printJsonBars(loads)
  told("CSV release to published generation, search included, against DuckDB reading the files into plain tables")
  const releases = []
  for (const labels of sizes) releases.push(await measureCsv(folder, labels))
  console.table(releases.map(({ times }) => times))
  console.table({ "B5 published ÷ DuckDB (≤ 2.5)": { measured: releases.at(-1)?.times["published ÷ DuckDB"] } })
  told("What the generation takes on the disk")
  console.table(releases.map(({ sizes }) => sizes))
  for (const { notebook, times } of releases) if (notebook !== undefined) printNotebook(times.labels, notebook)
}

/** Each size in turn; the bars are held against the largest. */
export const measureFoods = async (foods: ReadonlyArray<number>) => {
  const sizes = foods.toSorted((a, b) => a - b)
  await inTemporaryFolder("foods", async (folder) => {
    told(`Branded foods: ${cpus().length} cores, Node ${process.version}`)
    await measureLoading(folder, sizes)
    for (const size of sizes) await measureServing(folder, size)
  })
}
