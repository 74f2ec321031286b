/** Serving so many foods, all of them current: the start, foods by id, the search, and what a user would do instead of it. */
import { rmSync } from "node:fs"
import path from "node:path"
import { brandedFoodId } from "@larder/schemas"
import { startServer } from "../../support/programs.ts"
import { richKey } from "../servers.ts"
import { median, rounded } from "../statistics.ts"
import { compareAlternatives } from "./alternatives.ts"
import { measureBeside } from "./beside.ts"
import { allTexts, questionsOf } from "./questions.ts"
import { measureRecords } from "./records.ts"
import { currentRelease } from "./releases.ts"
import { compareWithScan, measureSearches } from "./searching.ts"
import { databaseOf, sizesOf } from "./sizes.ts"
import { timedIngest } from "./timed.ts"
import { allIds, withWarehouse } from "./warehouse.ts"

const starts = 3

const startOnce = async (home: string, key: string, fdcId: number) => {
  const startedAt = performance.now()
  const server = await startServer(home)
  try {
    const { status } = await fetch(`${server.api}/v1/branded-foods/${brandedFoodId(fdcId)}`, {
      headers: { authorization: `Bearer ${key}` }
    })
    if (status !== 200) throw new Error(`the first call was answered with ${status}`)
    return (performance.now() - startedAt) / 1000
  } finally {
    await server.stop()
  }
}

const measureStart = async (home: string, key: string, ids: Int32Array) => {
  const seconds: Array<number> = []
  for (let start = 0; start < starts; start++) seconds.push(await startOnce(home, key, ids.at(start) ?? 0))
  console.table({
    "B9 start to the first charged answer, s (≤ 1.5)": { foods: ids.length, measured: rounded(median(seconds), 2) }
  })
}

const ingestCurrent = async (folder: string, home: string, foods: number) => {
  const release = await currentRelease(folder, foods)
  try {
    const { peak_mb, seconds, whole } = await timedIngest(home, release.unpacked)
    console.table([
      { foods, "published, s": rounded(seconds, 2), "ended, s": whole, "peak memory, MB": peak_mb, ...sizesOf(home) }
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
    await measureBeside(home, foods)
    const key = await richKey(home)
    const database = databaseOf(home, "branded-foods")
    await withWarehouse(database, async (warehouse) => {
      const ids = await allIds(warehouse)
      await measureStart(home, key, ids)
      const server = await startServer(home)
      try {
        await measureRecords(server, key, database, ids)
      } finally {
        await server.stop()
      }
      const texts = await allTexts(warehouse, foods)
      console.log(`\nSearches over ${foods} current labels, charged, pages of 50 whole records`)
      await measureSearches(home, key, await questionsOf(warehouse, texts))
      await compareWithScan(warehouse, home, key, texts)
      console.log(
        `\nIngredients of ${foods} current labels searched by other means: trigrams, texts of three characters or more`
      )
      await compareAlternatives({ folder, database, home, key, texts: texts.ingredient, warehouse })
    })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
