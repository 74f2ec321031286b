/** The golden payloads are excerpts of the samples, with unusual rows added: without a number, date or timestamp. */
import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { readBody, recordingOf } from "@larder/test/support/pipelines/commodity-payloads.ts"
import { compareWithGolden } from "@larder/test/support/pipelines/golden.ts"
import { catalog } from "./catalog.ts"
import { commodityMappingVersion } from "./mapping-version.ts"

const golden = new URL("./golden/", import.meta.url)
const payloads = catalog().feeds.flatMap((feed) => {
  const file = new URL(`payloads/${recordingOf(feed).replaceAll("%", "%25")}`, golden)
  return existsSync(file) ? [{ feed, text: readFileSync(file, "utf8") }] : []
})

describe("the version of the mapping", () => {
  it("is raised when the rows of the golden payloads change", () => {
    const rows = payloads.map(({ feed, text }) => {
      const { measures, rejects, ...read } = readBody(feed, text)
      const rejected = rejects.map(({ position }) => position) // rewording a reason does not change the mapping
      return { feed: feed.feed, ...read, rejected, measures: Object.fromEntries(measures) }
    })
    compareWithGolden(golden, commodityMappingVersion, rows)
  })

  it("covers both services, every kind of period, unit and column", () => {
    const kindsOf = (feeds: ReadonlyArray<(typeof payloads)[number]["feed"]>) =>
      new Set(
        feeds.flatMap(({ metrics, period, source }) => [
          source,
          JSON.stringify({ ...period, field: "", month: "", year: "" }),
          ...metrics.flatMap(({ column: { by, isOptional }, unit }) => [
            unit,
            `${Object.keys(by)}, optional: ${isOptional}`
          ])
        ])
      )
    assert.deepStrictEqual(kindsOf(payloads.map(({ feed }) => feed)), kindsOf(catalog().feeds))
  })
})
