import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { writeSamples } from "./generate.ts"
import { barrels, blocks, committed, marketNews, milk, monthly, sections, survey } from "./generator/committed.ts"

describe("sample payloads: committed and generated", () => {
  let folder = ""
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "larder-samples-"))
    writeSamples(folder)
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const listed = (root: string) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".gz"))
      .toSorted()

  it("has the files that the generator writes, and no others", () => {
    assert.deepStrictEqual(listed(import.meta.dirname), listed(folder))
    assert.strictEqual(listed(folder).length, 39)
  })
  it("has in each file what the generator writes", () => {
    for (const name of listed(folder)) {
      const [ours, generated] = [import.meta.dirname, folder].map((root) => gunzipSync(readFileSync(join(root, name))))
      assert(ours && generated)
      assert.isTrue(ours.equals(generated), `${name} differs: run generate.ts and commit what it writes`)
    }
  })
  it("writes gzip headers without a time or a system", () => {
    for (const name of listed(folder))
      assert.deepStrictEqual([...readFileSync(join(folder, name)).subarray(4, 10)], [0, 0, 0, 0, 2, 255], name)
  })
})

describe("sample payloads: envelopes", () => {
  it("counts its rows under names with a colon in the Datamart service", () => {
    for (const envelope of [
      ...sections.flatMap(([name]) => [survey(name), survey(`Final ${name}`)]),
      milk(2991),
      milk(2989)
    ]) {
      const count = envelope.results.length
      assert.deepStrictEqual(Object.entries(envelope.stats), [
        ["totalRows:", count],
        ["returnedRows:", count],
        ["userAllowedRows:", 99_999]
      ])
    }
  })
  it("has text or null in every field of the Datamart service", () => {
    for (const row of [...survey(barrels).results, ...milk(2991).results, ...milk(2989).results])
      for (const value of Object.values(row)) assert.isTrue(value === null || typeof value === "string")
  })
  it("counts its rows in the Market News service", () => {
    for (const { stats, results } of [marketNews(1602), marketNews(1603), marketNews(1045), ...monthly()])
      assert.deepStrictEqual(stats, {
        returnedRows: results.length,
        userAllowedRows: 100_000,
        totalRows: results.length
      })
  })
  it("opens as the Datamart service does", () => {
    const start = `{ "reportSection" : "${blocks}", "reportSections" : [ "Summary", "Butter Prices and Sales", "${blocks}"`
    const path = `mpr.datamart.ams.usda.gov/services/v1.1/reports/2993/${encodeURIComponent(blocks)}`
    assert.strictEqual(committed(path).slice(0, start.length), start)
  })
})
