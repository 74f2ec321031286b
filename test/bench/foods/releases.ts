/** Synthetic releases of any size, in the two forms of the source. */
import path from "node:path"
import type { ReleaseSize } from "../../samples/branded-foods/plan.ts"
import { answered } from "./timed.ts"

export interface Task {
  readonly folder: string
  readonly name: string
  readonly form: "csv" | "json"
  readonly size: ReleaseSize
  /** Of the CSV form, whose folder stays; the JSON form is left as a zip only. */
  readonly zipped: boolean
}

/** As at the source. */
const versionsPerProduct = 3.8

const sizeOf = (labels: number, versions_per_product: number): ReleaseSize => ({
  foods: Math.round(labels),
  versions_per_product,
  seed: 20_260_430,
  vocabulary: 150_000,
  oddities: 1,
  released_on: "2026-04-30"
})

const write = async (task: Task) => {
  const foods = await answered<number>("write-release.ts", task)
  return { foods, unpacked: path.join(task.folder, task.name), zip: path.join(task.folder, `${task.name}.zip`) }
}

/** The zip of a JSON release of about so many current foods, which name their earlier versions. */
export const jsonRelease = (folder: string, foods: number) => {
  const size = sizeOf(foods * versionsPerProduct, versionsPerProduct)
  return write({ folder, name: `json-${foods}`, form: "json", size, zipped: true })
}

/** Folder and zip of a CSV release of so many label versions. */
export const csvRelease = (folder: string, labels: number) =>
  write({ folder, name: `csv-${labels}`, form: "csv", size: sizeOf(labels, versionsPerProduct), zipped: true })

/** Folder of a CSV release of so many foods, all of them current: the most that a search can have to do. */
export const currentRelease = (folder: string, foods: number) =>
  write({ folder, name: `current-${foods}`, form: "csv", size: sizeOf(foods, 1), zipped: false })
