/**
 * Writes the sample release: `node test/samples/branded-foods/generate.ts [OUT_DIR]`, by default to
 * `pipelines/branded-foods/samples`. Two archives have the same 3,000 labels, one in each form of the source. Fixed seed,
 * no clock, no network.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { writeCsvRelease } from "./csv.ts"
import { writeJsonRelease } from "./json.ts"
import type { ReleaseSize } from "./labels.ts"
import { writeZip } from "./zip.ts"

export const sampleRelease: ReleaseSize = {
  foods: 3_000,
  versions_per_product: 2.5,
  seed: 20_260_430,
  vocabulary: 600,
  oddities: 8,
  released_on: "2026-04-30"
}

const address = "fdc.nal.usda.gov/fdc-datasets"
const makeName = (form: "csv" | "json") => `FoodData_Central_branded_food_${form}_${sampleRelease.released_on}`

/** Paths of the archives below `samples/`. */
export const sampleArchives = { csv: `${address}/${makeName("csv")}.zip`, json: `${address}/${makeName("json")}.zip` }

/** Writes the unpacked files of both archives. */
export const writeSampleFiles = async (folder: string) => {
  const csv = join(folder, makeName("csv"))
  const json = join(folder, `${makeName("json")}.json`)
  await writeCsvRelease(csv, sampleRelease)
  await writeJsonRelease(json, sampleRelease)
  return {
    csv: readdirSync(csv)
      .toSorted()
      .map((name) => ({ file: join(csv, name), name: `${makeName("csv")}/${name}` })),
    json: [{ file: json, name: `${makeName("json")}.json` }]
  }
}

export const writeSamples = async (folder: string) => {
  const unpacked = mkdtempSync(join(tmpdir(), "larder-sample-release-"))
  try {
    const files = await writeSampleFiles(unpacked)
    mkdirSync(join(folder, address), { recursive: true })
    await writeZip(files.csv, join(folder, sampleArchives.csv), 9)
    await writeZip(files.json, join(folder, sampleArchives.json), 9)
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../../../pipelines/branded-foods/samples"))
  await writeSamples(folder)
  for (const path of Object.values(sampleArchives))
    process.stdout.write(`${path}: ${statSync(join(folder, path)).size} bytes\n`)
}
