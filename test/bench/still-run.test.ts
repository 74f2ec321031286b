/**
 * The benchmarks still run to their end and print what docs/benchmarks.md compares. The console, stores and growth run
 * in `npm run test:long`. Foods, fairness and shared depots take minutes even so; of foods, the releases are written.
 */
import { readFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { openPromise } from "yauzl"
import { makeTestFolder } from "../end-to-end/ingesting.ts"
import { writeCsvRelease, writeJsonRelease } from "./foods/releases.ts"
import { runQuickly } from "./run-quickly.ts"

describe.concurrent("benchmarks", () => {
  it("of the API and of rounds still run and print their results", () =>
    runQuickly(
      ["api", "rounds"],
      ["B1 charged ÷ bare h3", "B7 lost to access", "B8 p99 during ÷ before", "requests, first = 100 %"]
    ))

  it("write releases of labels of any size, as zip, CSV and JSON", async () => {
    const folder = makeTestFolder()
    const json = await writeJsonRelease(folder, 30)
    const csv = await writeCsvRelease(folder, 40)
    const count = (text: string, separator: string) => text.trim().split(separator).length
    assert.strictEqual(csv.foods, 40)
    assert.strictEqual(count(readFileSync(path.join(csv.unpacked, "branded_food.csv"), "utf8"), '\n"'), 1 + csv.foods)
    const entries = async (zip: string) => {
      const names: Array<string> = []
      for await (const { fileName } of (await openPromise(zip)).eachEntry()) names.push(path.basename(fileName))
      return names
    }
    assert.deepStrictEqual(await entries(json.zip), ["json-30.json"])
    assert.includeMembers(await entries(csv.zip), ["food.csv", "branded_food.csv", "food_nutrient.csv"])
  })
})
