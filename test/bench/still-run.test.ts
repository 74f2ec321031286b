/**
 * The benchmarks still run to their end and print what docs/benchmarks.md compares: the ratios of a quick run mean nothing,
 * and are not checked. Foods, fairness and shared depots take minutes even so; of foods, the releases are written.
 */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { openPromise } from "yauzl"
import { makeTestFolder } from "../end-to-end/ingesting.ts"
import { cleanEnvironment, waitForExit } from "../support/programs.ts"
import { writeCsvRelease, writeJsonRelease } from "./foods/releases.ts"

const runQuickly = async (...parts: ReadonlyArray<string>) => {
  const script = path.join(import.meta.dirname, "run.ts")
  const child = spawn(process.execPath, [script, ...parts, "--quick"], {
    env: cleanEnvironment({}),
    stdio: ["ignore", "pipe", "pipe"]
  })
  const { code, stderr, stdout } = await waitForExit(child)
  assert.strictEqual(code, 0, stderr)
  return stdout
}

describe.concurrent("benchmarks", () => {
  it.each([
    [
      ["api", "rounds"],
      ["B1 charged ÷ bare h3", "B7 lost to access", "B8 p99 during ÷ before", "requests, first = 100 %"]
    ],
    [
      ["console", "storefronts"],
      ["usage, a year of a key", "B6 products/s on one core", "B6 peak memory at"]
    ]
  ])("of %s still run and print their results", async (parts, results) => {
    const output = await runQuickly(...parts)
    for (const result of results) assert.include(output, result)
  })

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
