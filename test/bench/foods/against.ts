/** Compares foods by id, searches and loads with those of another checkout. */
import { rmSync } from "node:fs"
import { type Both, describeBoth, startBoth, stopBoth } from "../against.ts"
import { loadInTurns } from "../load-in-turns.ts"
import { inTemporaryFolder } from "../temporary-folder.ts"
import { compareCsv, compareJson } from "./loading.ts"
import { compareRecords } from "./records.ts"
import { writeCurrentRelease } from "./releases.ts"
import { findAllTexts, findSearches } from "./searches.ts"
import { buildSearchPath } from "./searching.ts"
import { databaseFile } from "./sizes.ts"
import { listIds, withWarehouse } from "./warehouse.ts"

const compareServing = async (folder: string, checkouts: Both<string>, foods: number) => {
  const release = await writeCurrentRelease(folder, foods)
  const servers = await startBoth(folder, checkouts, ["branded-foods", "--file", release.unpacked])
  try {
    await withWarehouse(databaseFile(servers.this.home, "branded-foods"), async (warehouse) => {
      await compareRecords(folder, servers, await listIds(warehouse))
      const searches = await findSearches(warehouse, await findAllTexts(warehouse, foods))
      const paths = searches.map(({ query }) => buildSearchPath(query))
      const measured = await loadInTurns(servers, () => paths)
      console.log(`\n${paths.length} searches of all kinds over ${foods} labels, one key, 64 connections`)
      console.table(describeBoth(measured))
    })
  } finally {
    await stopBoth(servers)
    for (const home of [servers.this.home, servers.against.home, release.unpacked]) {
      rmSync(home, { recursive: true, force: true })
    }
  }
}

/** `foods` are labels in the CSV form, and current foods in the JSON form, which has about four versions of each. */
export const compareFoods = (checkouts: Both<string>, foods: ReadonlyArray<number>) =>
  inTemporaryFolder("foods", async (folder) => {
    for (const size of foods) {
      await compareJson(folder, checkouts, size)
      await compareCsv(folder, checkouts, size)
      await compareServing(folder, checkouts, size)
    }
  })
