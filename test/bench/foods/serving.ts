/** Measures a server with many foods, all of them current: start, foods by id, search, and alternatives to the search. */
import { rmSync } from "node:fs"
import path from "node:path"
import { brandedFoodId } from "@larder/schemas"
import { startServer } from "../../support/programs.ts"
import { createFundedKey } from "../servers.ts"
import { measureStart } from "../start-up.ts"
import { median, roundTo } from "../statistics.ts"
import { compareAlternatives } from "./alternatives.ts"
import { measureOtherRuns } from "./other-data-sets.ts"
import { measureIngest } from "./processes.ts"
import { measureRecords } from "./records.ts"
import { writeCurrentRelease } from "./releases.ts"
import { findAllTexts, findSearches } from "./searches.ts"
import { compareWithScan, measureSearches } from "./searching.ts"
import { databaseFile, measureSizes } from "./sizes.ts"
import { listIds, withWarehouse } from "./warehouse.ts"

const starts = 3

const measureStarts = async (home: string, key: string, ids: Int32Array) => {
  const seconds: Array<number> = []
  for (let start = 0; start < starts; start++) {
    const request = `/v1/branded-foods/${brandedFoodId(ids.at(start) ?? 0)}`
    seconds.push((await measureStart({ home, key, request })).seconds)
  }
  console.table({
    "B9 start to the first charged response, s (≤ 1.5)": { foods: ids.length, measured: roundTo(median(seconds), 2) }
  })
}

const ingestCurrent = async (folder: string, home: string, foods: number) => {
  const release = await writeCurrentRelease(folder, foods)
  try {
    const { ended, peak_mb, seconds } = await measureIngest(home, release.unpacked)
    console.table([
      {
        foods,
        "published, s": roundTo(seconds, 2),
        "ended, s": ended,
        "peak memory, MB": peak_mb,
        ...measureSizes(home)
      }
    ])
  } finally {
    rmSync(release.unpacked, { recursive: true, force: true })
  }
}

export const measureServing = async (folder: string, foods: number) => {
  const home = path.join(folder, "home")
  try {
    console.log(`\nServing ${foods} foods, all of them current`)
    await ingestCurrent(folder, home, foods)
    await measureOtherRuns(home, foods)
    const key = await createFundedKey(home)
    const database = databaseFile(home, "branded-foods")
    await withWarehouse(database, async (warehouse) => {
      const ids = await listIds(warehouse)
      await measureStarts(home, key, ids)
      const server = await startServer(home)
      try {
        await measureRecords(folder, { ...server, key }, database, ids)
      } finally {
        await server.stop()
      }
      const texts = await findAllTexts(warehouse, foods)
      console.log(`\nSearches over ${foods} current labels, charged, pages of 50 complete records`)
      await measureSearches(home, key, await findSearches(warehouse, texts))
      await compareWithScan(warehouse, home, key, texts)
      console.log(
        `\nIngredients of ${foods} current labels in other engines: trigrams, texts of three characters or more`
      )
      await compareAlternatives({ folder, database, home, key, texts: texts.ingredient, warehouse })
    })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
