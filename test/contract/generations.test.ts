/**
 * Generations that a server changes to while it runs: with other numbers, and with data sets that are not loaded, which then
 * answer as if they were empty: everything but rows is in force.
 */
import { execFile } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { pagesOf } from "../support/api/pages.ts"
import { errorOf, servedAlone } from "../support/api/served.ts"
import { clean, run, untilServed } from "../support/programs.ts"
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
  const { code, stderr } = await run("larder-ingest", ["rollback", "--to", to], { LARDER_HOME: api.home() })
  expect([code, stderr]).toEqual([0, ""])
  await untilServed(api.server(), to)
}

const priced = (price: string) =>
  `{"data":[{"slug":"milk-class-iii-price-monthly","unit":"USD/cwt","points":[{"date":"2026-09-01","value":${price}}]}]}`
const about = async (target: string) => {
  const { headers } = await api.get(target)
  return [headers["x-data-version"], headers["x-data-origin"]]
}
const versioned = async () => {
  const { headers, text } = await api.get(classIII)
  return [headers["x-data-version"], text]
}
const emptyPage = '{"data":[],"next_cursor":null}'
const notWhole = "400 invalid_request: limit must be a whole number of at least 1"

describe("a new generation", () => {
  it("replaces numbers under a client whose cursors stay valid, also after a restart and a rollback", async () => {
    const { data } = (await api.get("/v1/commodities?limit=500")).json as Catalog
    const foods = "/v1/branded-foods?name=e&limit=5"
    const stores = (await api.get("/v1/stores")).json as { readonly data: ReadonlyArray<{ readonly id: string }> }
    const lists = [foods, `/v1/stores/${stores.data[0]?.id}/products?limit=1`]
    const cursors = await Promise.all(
      lists.map(async (list) => ((await api.get(list)).json as { readonly next_cursor: string }).next_cursor)
    )
    const nextPages = () =>
      Promise.all(lists.map(async (list, index) => (await api.get(`${list}&cursor=${cursors[index]}`)).text))
    const before = await nextPages()
    for (const page of before) expect(page).toMatch(/^\{"data":\[\{/)
    let published = ""
    const events = [
      async () => {
        expect(await versioned()).toEqual(["larder-000001", priced("15.97")])
        published = await publish("16.00", "10/07/2026 13:04:36")
        expect(published).not.toBe("larder-000003")
        expect(await versioned()).toEqual([published, priced("16.00")])
        expect(await about("/v1/branded-foods?limit=1"), "nothing of it has changed").toEqual([
          "larder-000002",
          "sample"
        ])
        expect(await about("/v1/stores/none")).toEqual(["larder-000003", "sample"])
      },
      async () => {
        await api.restart()
        expect(await versioned()).toEqual([published, priced("16.00")])
        expect(await nextPages()).toEqual(before)
      },
      async () => {
        await rollback("larder-000003")
        expect(await versioned()).toEqual(["larder-000001", priced("15.97")])
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

describe("branded foods that are not loaded", () => {
  beforeAll(() => rollback("larder-000001")) // it has commodities alone

  it.each([
    "",
    "?name=gum",
    "?brand=x",
    "?category=Chewing%20Gum%20%26%20Mints",
    "?barcode=0059642932491",
    "?barcode=not-digits",
    "?ingredient=dextrose",
    "?name=&brand=&category=&barcode=&ingredient=&cursor=",
    "?name=%25&limit=200"
  ])("answers the search with an empty page, and charges it: '%s'", async (query) => {
    const { headers, status, text } = await api.get(`/v1/branded-foods${query}`)
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, emptyPage, "10"])
  })

  it("answers an empty list of categories, and charges it", async () => {
    const { headers, status, text } = await api.get("/v1/branded-foods/categories")
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, '{"data":[]}', "10"])
  })

  it("names branded foods as missing in /readyz", async () => {
    const ready = await (await fetch(`${api.server().console}/readyz`)).json()
    expect(ready).toMatchObject({ status: "ready", missing: expect.arrayContaining(["branded_foods"]) })
  })

  it("answers 404 to an id, and charges nothing", async () => {
    const id = "data_branded_food_0soq3xi"
    const reply = await api.get(`/v1/branded-foods/${id}`)
    expect([errorOf(reply), reply.headers["x-credits-charged"]]).toEqual([
      `404 not_found: Unknown branded food: ${id}`,
      "0"
    ])
  })
})

describe("storefronts that are not loaded", () => {
  beforeAll(() => rollback("larder-000001"))

  it.each([
    "",
    "?query=bakery",
    "?category=food_beverages_and_tobacco",
    "?country=US",
    "?country=us",
    "?country=",
    "?query=&category=&cursor=",
    "?limit=200",
    "?limit=201",
    `?limit=${"9".repeat(400)}`
  ])("answers the search with an empty page, and charges it: '%s'", async (query) => {
    const { headers, status, text } = await api.get(`/v1/stores${query}`)
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, emptyPage, "100"])
  })

  it.each([
    ["/v1/stores/platform_store_x", "store: platform_store_x"],
    ["/v1/stores/platform_store_x/products", "store: platform_store_x"],
    ["/v1/stores/platform_store_x/collections", "store: platform_store_x"],
    ["/v1/products/platform_product_x", "product: platform_product_x"]
  ])("answers 404 to an id, and charges nothing: %s", async (path, message) => {
    const reply = await api.get(path)
    expect([errorOf(reply), reply.headers["x-credits-charged"]]).toEqual([`404 not_found: Unknown ${message}`, "0"])
  })

  it.each(["/v1/stores/x/products", "/v1/stores/x/collections"])(
    "takes a `limit` above 200, however large: %s",
    async (path) => {
      for (const limit of ["200", "201", "100000", "9".repeat(400)]) {
        expect((await api.get(`${path}?limit=${limit}`)).status).toBe(404) // past the 400: the store is what is unknown
      }
    }
  )

  it.each(["/v1/stores", "/v1/stores/x/products", "/v1/stores/x/collections"])(
    "rejects a `limit` that is not a whole number of at least 1: %s",
    async (path) => {
      for (const limit of ["0", "-1", "1.5", "x", "", "1e2", "%2B1"]) {
        expect(errorOf(await api.get(`${path}?limit=${limit}`))).toBe(notWhole)
      }
    }
  )

  it.each(["USA", "U", "1A", "Ü1"])("rejects a `country` that is not a two-letter code: %s", async (country) => {
    expect(errorOf(await api.get(`/v1/stores?country=${encodeURIComponent(country)}`))).toMatch(
      /^400 invalid_request: country /
    )
  })
})

describe("a data set whose rows are those of its source", () => {
  beforeAll(async () => {
    const [samples, live] = ["larder-000001", "larder-000006"].map((id) =>
      path.join(api.home(), `warehouse/${id}.duckdb`)
    )
    copyFileSync(samples ?? "", live ?? "")
    const relabel = DuckDb.readWrite(live ?? "").pipe(
      Effect.flatMap((db) => db.run("update ingest.run set origin = 'live'")),
      Effect.scoped
    )
    await Effect.runPromise(relabel)
    await rollback("larder-000006")
  })

  it("is live, and so is one that is not loaded; an error says so, too", async () => {
    expect(await about(classIII)).toEqual(["larder-000001", "live"])
    expect(await about("/v1/commodities?limit=0")).toEqual(["larder-000001", "live"])
    expect(await about("/v1/stores")).toEqual(["larder-000006", "live"])
  })
})

describe("a warehouse without commodities", () => {
  beforeAll(async () => {
    const file = path.join(api.home(), "warehouse/larder-000007.duckdb")
    await Effect.runPromise(
      Effect.scoped(Effect.flatMap(DuckDb.readWrite(file), (db) => db.run("create schema storefront")))
    )
    await rollback("larder-000007")
  })

  it("is served, and /readyz names what is missing", async () => {
    const response = await fetch(`${api.server().console}/readyz`)
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: "ready", generation: "larder-000007", missing: expect.arrayContaining(["commodities"]) }
    ])
  })

  it.each([
    ["/v1/commodities", '{"data":[]}'],
    ["/v1/commodities?commodity=butter", '{"data":[]}'],
    ["/v1/commodities?limit=10", '{"data":[],"next_cursor":null}'],
    ["/v1/commodities?category=dairy", '{"data":[],"next_cursor":null}']
  ])("answers empty catalogs: %s", async (target, text) => {
    const reply = await api.get(target)
    expect([reply.status, reply.text, reply.headers["x-data-version"]]).toEqual([200, text, "larder-000007"])
  })

  it("knows no series and no metric", async () => {
    expect(errorOf(await api.get("/v1/commodities/prices?series=butter-sales-price-weekly"))).toBe(
      "400 invalid_request: Unknown series: butter-sales-price-weekly"
    )
    expect(errorOf(await api.get("/v1/commodities/metric-values?metrics=a,b"))).toBe(
      "400 invalid_request: Unknown metrics: a, b"
    )
  })
})

describe("a warehouse whose link is lost", () => {
  const folder = () => path.join(api.home(), "warehouse")
  const environment = () => ({ LARDER_HOME: api.home() })
  const readiness = async () => {
    const response = await fetch(`${api.server().console}/readyz`)
    return [response.status, await response.json()]
  }
  const refusal = /larder\.duckdb is missing, but generations are kept .* npx larder-ingest rollback --to 7\n$/

  beforeAll(() => rmSync(path.join(folder(), "larder.duckdb")))

  it("is served from the generation that is open, and /readyz and the log say so", async () => {
    const fault = "the link leads to no generation: the log says why"
    await expect
      .poll(readiness, { interval: 50 })
      .toMatchObject([200, { status: "ready", generation: "larder-000007", fault }])
    expect((await api.get("/v1/commodities")).headers["x-data-version"]).toBe("larder-000007")
    expect(api.server().logs()).toContain("the link leads to no generation; larder-000007 stays")
  })

  it.each([[["commodities"]], [["--if-missing"]], [["all", "--dry-run"]]])(
    "is not taken for an empty one: larder-ingest %j exits with 1 and changes nothing",
    async (args) => {
      const before = readdirSync(folder())
      const { code, stderr, stdout } = await run("larder-ingest", args, environment())
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(refusal)])
      expect(stderr.split("\n")).toHaveLength(2)
      expect(readdirSync(folder())).toEqual(before)
    }
  )

  it("is not taken for an empty one by npm start", async () => {
    const start = path.join(repository, "bin/start.mjs")
    const [code, stderr] = await new Promise<[unknown, string]>((resolve) =>
      execFile(process.execPath, [start], { env: clean(environment()) }, (error, _, stderr) =>
        resolve([error?.code, stderr])
      )
    )
    expect([code, stderr]).toEqual([1, expect.stringMatching(refusal)])
  })

  it("has no live generation in the list, and one command repairs it", async () => {
    const list = async () => (await run("larder-ingest", ["generations"], environment())).stdout
    expect(await list()).toContain("larder-000007")
    expect(await list()).not.toContain("*")
    await rollback("larder-000003")
    expect(await list()).toContain("* larder-000003\n")
    expect((await readiness())[1]).not.toHaveProperty("fault")
  })
})
