/** Homes that another version of a mapping made, and runs that rebuild them. */
import { rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import type { Manifest } from "@larder/warehouse"
import { expect } from "vitest"
import { newestManifest, query } from "./ingesting.ts"

export const pipelines = [commodities, brandedFoods, storefronts]
export type AnyPipeline = (typeof pipelines)[number]
type Name = AnyPipeline["name"]

/** Everything that must stay: rows with their ids, runs and histories. */
const rowsThatStay: Readonly<Record<Name, ReadonlyArray<string>>> = {
  commodities: [
    "commodity.observation_version",
    "(select * exclude (measure, no_values_reason) from commodity.metric)", // without prices, the column depends on what the newest run read
    "commodity.series",
    "ingest.reject"
  ],
  "branded-foods": ["branded_food.food", "branded_food.version", "branded_food.nutrition", "ingest.reject"],
  storefronts: [
    "storefront.product",
    "storefront.variant",
    "storefront.collection",
    "(select * exclude (last_seen_at) from storefront.sighting)",
    "storefront.variant_change",
    "storefront.listing",
    "(select * exclude (payload) from ingest.reject)" // their payloads have the place of a row in all that was read
  ]
}

export const readRows = (home: string, pipeline: Name) =>
  query(
    home,
    ...(rowsThatStay[pipeline] ?? []).map((from) => `select to_json(t)::varchar as row from ${from} t order by all`)
  )

export const manifestFileOf = (depot: string, { number }: Manifest) =>
  path.join(depot, "generations", `${String(number).padStart(9, "0")}.json`)

/** The manifest, as if a version of the mapping with another number had made the data set. */
export const withMapping = (manifest: Manifest, pipeline: Name, difference: number): Manifest => {
  const entry = manifest.data_sets[pipeline]
  if (entry?.mapping === undefined) throw new Error(`there is no ${pipeline}`)
  const data_sets = { ...manifest.data_sets, [pipeline]: { ...entry, mapping: entry.mapping + difference } }
  return { ...manifest, data_sets }
}

/** Replaces the newest manifest in these folders. */
export const setMapping = (home: string, pipeline: Name, difference: number, ...depots: ReadonlyArray<string>) => {
  const manifest = withMapping(newestManifest(home), pipeline, difference)
  for (const depot of [path.join(home, "warehouse"), ...depots]) {
    const file = manifestFileOf(depot, manifest)
    rmSync(file)
    writeFileSync(file, JSON.stringify(manifest), { mode: 0o444 })
  }
}

export const mappingIn = (home: string, pipeline: Name) => newestManifest(home).data_sets[pipeline]?.mapping

/** Runs again on a home that an older mapping made. Expects the code of the first run, a rebuild, and the same rows. */
export const expectRebuilt = async (
  home: string,
  { mappingVersion, name }: AnyPipeline,
  expected: number,
  again: () => Promise<{ readonly code: number | null; readonly output: string }>
) => {
  const before = await readRows(home, name)
  expect(before.flat().length, name).toBeGreaterThan(10)
  setMapping(home, name, -1)
  const { number } = newestManifest(home)
  const { code, output } = await again()
  expect(code, output).toBe(expected)
  expect(output).toContain(`${name} was made with version ${mappingVersion - 1} of its mapping, and is rebuilt`)
  expect(mappingIn(home, name)).toBe(mappingVersion)
  expect(newestManifest(home).data_sets[name]?.published_in).toBeGreaterThan(number)
  const after = await readRows(home, name)
  for (const [index, table] of (rowsThatStay[name] ?? []).entries()) expect(after[index], table).toEqual(before[index])
}
