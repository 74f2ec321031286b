/** Writes synthetic releases of any size, in both forms of the source. */
import path from "node:path"
import type { ReleaseSize } from "../../samples/branded-foods/plan.ts"
import { runScript } from "./processes.ts"

export interface Task {
  readonly folder: string
  readonly name: string
  readonly form: "csv" | "json"
  readonly size: ReleaseSize
  /** Whether to zip the CSV form, whose folder is kept. The JSON form is always only a zip. */
  readonly zipped: boolean
}

/** As in the real releases. */
const versionsPerProduct = 3.8

const makeSize = (labels: number, versions_per_product: number): ReleaseSize => ({
  foods: Math.round(labels),
  versions_per_product,
  seed: 20_260_430,
  vocabulary: 150_000,
  oddities: 1,
  released_on: "2026-04-30"
})

const write = async (task: Task) => {
  const foods = await runScript<number>("write-release.ts", task)
  return { foods, unpacked: path.join(task.folder, task.name), zip: path.join(task.folder, `${task.name}.zip`) }
}

/** Writes the zip of a JSON release with about this number of current foods. Each names its earlier versions. */
export const writeJsonRelease = (folder: string, foods: number) => {
  const size = makeSize(foods * versionsPerProduct, versionsPerProduct)
  return write({ folder, name: `json-${foods}`, form: "json", size, zipped: true })
}

/** Writes the folder and zip of a CSV release with this number of label versions. */
export const writeCsvRelease = (folder: string, labels: number) =>
  write({ folder, name: `csv-${labels}`, form: "csv", size: makeSize(labels, versionsPerProduct), zipped: true })

/** Writes the folder of a CSV release in which all foods are current: the maximum work for a search. */
export const writeCurrentRelease = (folder: string, foods: number) =>
  write({ folder, name: `current-${foods}`, form: "csv", size: makeSize(foods, 1), zipped: false })
