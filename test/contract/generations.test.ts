import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { pagesOf } from "../support/api/pages.ts"
import { servedAlone } from "../support/api/served.ts"
import { run, untilServed } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const api = servedAlone()
const classIII = "/v1/commodities/prices?series=milk-class-iii-price-monthly&from=2026-09-01"
const detail = "mpr.datamart.ams.usda.gov/services/v1.1/reports/2991/Detail"

interface Catalog {
  readonly data: ReadonlyArray<{ readonly slug: string }>
}

/** A recording of one report, in which the newest Class III price was published anew a week later. */
const recordingOf = (price: string, publishedAt: string): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-replay-"))
  const sample = gunzipSync(readFileSync(path.join(repository, "pipelines/commodities/samples", `${detail}.gz`)))
  const revised = sample
    .toString()
    .replace(/("class_3_Price" : )"15.97"/, `$1"${price}"`)
    .replace(/("published_date" : )"09\/30\/2026 13:04:36"/, `$1"${publishedAt}"`)
  expect(revised).not.toBe(sample.toString())
  mkdirSync(path.dirname(path.join(folder, detail)), { recursive: true })
  writeFileSync(path.join(folder, detail), revised)
  return folder
}

const publish = async (price: string, publishedAt: string) => {
  const replay = recordingOf(price, publishedAt)
  try {
    const { stdout } = await run("larder-ingest", ["commodities", "--replay", replay, "--json"], {
      LARDER_HOME: api.home()
    })
    const { generation } = JSON.parse(stdout) as { readonly generation: string }
    await untilServed(api.server(), generation)
    return generation
  } finally {
    rmSync(replay, { recursive: true })
  }
}

const rollback = async (to: string) => {
  const { code, stderr } = await run("larder-ingest", ["rollback", to], { LARDER_HOME: api.home() })
  expect([code, stderr]).toEqual([0, ""])
  await untilServed(api.server(), to)
}

const priced = (price: string) =>
  `{"data":[{"slug":"milk-class-iii-price-monthly","unit":"USD/cwt","points":[{"date":"2026-09-01","value":${price}}]}]}`
const versioned = async () => {
  const { headers, text } = await api.get(classIII)
  return [headers["x-data-version"], text]
}

describe("a new generation", () => {
  it("replaces numbers under a client whose cursors stay valid, also after a restart and a rollback", async () => {
    const { data } = (await api.get("/v1/commodities?limit=500")).json as Catalog
    const foods = "/v1/branded-foods?name=e&limit=5"
    const { next_cursor } = (await api.get(foods)).json as { readonly next_cursor: string }
    const nextFoods = async () => (await api.get(`${foods}&cursor=${next_cursor}`)).text
    const before = await nextFoods()
    let published = ""
    const events = [
      async () => {
        expect(await versioned()).toEqual(["larder-000003", priced("15.97")])
        published = await publish("16.00", "10/07/2026 13:04:36")
        expect(published).not.toBe("larder-000003")
        expect(await versioned()).toEqual([published, priced("16.00")])
      },
      async () => {
        await api.restart()
        expect(await versioned()).toEqual([published, priced("16.00")])
        expect(await nextFoods()).toBe(before)
      },
      async () => {
        await rollback("larder-000003")
        expect(await versioned()).toEqual(["larder-000003", priced("15.97")])
      }
    ]
    const pages = await pagesOf(api.get, "/v1/commodities?limit=5", async () => {
      await events.shift()?.()
    })
    expect(events).toEqual([])
    const slugs = (pages.flat() as Catalog["data"]).map(({ slug }) => slug)
    expect(slugs).toEqual(data.map(({ slug }) => slug)) // every row that was there throughout, once
  })
})
