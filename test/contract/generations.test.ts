/**
 * A running server that switches to new generations. Endpoints of a data set that is not loaded behave as if the data set
 * were empty.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { beforeAll, describe, expect, it } from "vitest"
import { fetchPages } from "../support/api/pages.ts"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { makeGeneration } from "../support/generations.ts"
import { run, waitUntilServed } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const api = startOwnServer()
const classIII = "/v1/commodities/prices?series=milk-class-iii-price-monthly&from=2026-09-01"
const detail = "mpr.datamart.ams.usda.gov/services/v1.1/reports/2991/Detail"

interface Catalog {
  readonly data: ReadonlyArray<{ readonly slug: string }>
}

/** Creates a recording of one report, in which the newest Class III price was published again a week later. */
const makeRecording = (price: string, publishedAt: string): string => {
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
  const replay = makeRecording(price, publishedAt)
  try {
    const { stdout } = await run("larder-ingest", ["commodities", "--replay", replay, "--json"], {
      LARDER_HOME: api.home()
    })
    const { generation } = JSON.parse(stdout) as { readonly generation: string }
    await waitUntilServed(api.server(), generation)
    return generation
  } finally {
    rmSync(replay, { recursive: true })
  }
}

/** Rolls back, and returns the generation of the rollback once it is served. */
const rollback = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await run("larder-ingest", ["rollback", "--json", ...args], {
    LARDER_HOME: api.home()
  })
  expect([code, stderr]).toEqual([0, ""])
  const { generation } = JSON.parse(stdout) as { readonly generation: string }
  await waitUntilServed(api.server(), generation)
  return generation
}

const formatPrices = (price: string) =>
  `{"data":[{"slug":"milk-class-iii-price-monthly","unit":"USD/cwt","points":[{"date":"2026-09-01","value":${price}}]}]}`
const readProvenance = async (target: string) => {
  const { headers } = await api.get(target)
  return [headers["x-data-version"], headers["x-data-origin"]]
}
const readPrices = async () => {
  const { headers, text } = await api.get(classIII)
  return [headers["x-data-version"], text]
}
const emptyPage = '{"data":[],"next_cursor":null}'
const invalidLimit = "400 invalid_request: limit must be a whole number of at least 1"

describe("a new generation", () => {
  it("replaces numbers while cursors stay valid, even after a restart and a rollback", async () => {
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
        expect(await readPrices()).toEqual(["larder-000001", formatPrices("15.97")])
        published = await publish("16.00", "10/07/2026 13:04:36")
        expect(published).not.toBe("larder-000003")
        expect(await readPrices()).toEqual([published, formatPrices("16.00")])
        expect(await readProvenance("/v1/branded-foods?limit=1"), "this data set has not changed").toEqual([
          "larder-000002",
          "sample"
        ])
        expect(await readProvenance("/v1/stores/none")).toEqual(["larder-000003", "sample"])
      },
      async () => {
        await api.restart()
        expect(await readPrices()).toEqual([published, formatPrices("16.00")])
        expect(await nextPages()).toEqual(before)
      },
      async () => {
        const rolledBack = await rollback("--to", "larder-000003")
        expect(await readPrices()).toEqual([rolledBack, formatPrices("15.97")])
        expect(await readProvenance("/v1/branded-foods?limit=1"), "this data set has not changed").toEqual([
          "larder-000002",
          "sample"
        ])
      }
    ]
    const pages = await fetchPages(api.get, "/v1/commodities?limit=5", async () => {
      await events.shift()?.()
    })
    expect(events).toEqual([])
    const slugs = (pages.flat() as Catalog["data"]).map(({ slug }) => slug)
    expect(slugs).toEqual(data.map(({ slug }) => slug)) // every row that exists throughout, once
  })
})

describe("a run without a new row", () => {
  it("changes no version, not even of its own data set, while the console and /readyz have its generation", async () => {
    const targets = [classIII, "/v1/branded-foods?limit=1", "/v1/stores?limit=1"]
    const before = await Promise.all(targets.map(readProvenance))
    const { code, stdout } = await run("larder-ingest", ["storefronts", "--json"], { LARDER_HOME: api.home() })
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { outcome: "unchanged", generation: null }])
    const { stdout: listed } = await run("larder-ingest", ["generations", "--json"], { LARDER_HOME: api.home() })
    const { generation } = JSON.parse(listed).at(-1)
    await waitUntilServed(api.server(), generation)
    expect(before.map(([version]) => version)).not.toContain(generation)
    expect(await Promise.all(targets.map(readProvenance))).toEqual(before)
  })
})

describe("a rollback of one data set", () => {
  it("is named only by responses of that data set, even if its parts are those of an earlier one", async () => {
    const stores = await readProvenance("/v1/stores?limit=1")
    const published = await publish("16.10", "10/14/2026 13:04:36")
    expect(await readPrices()).toEqual([published, formatPrices("16.10")])
    const rolledBack = await rollback("--only", "commodities", "--note", "typing error")
    expect(rolledBack).not.toBe(published)
    expect(await readPrices()).toEqual([rolledBack, formatPrices("15.97")])
    const restored = await rollback("--to", published)
    expect(await readPrices()).toEqual([restored, formatPrices("16.10")])
    expect(await readProvenance("/v1/stores?limit=1")).toEqual(stores)
  })
})

describe("branded foods that are not loaded", () => {
  beforeAll(async () => {
    await rollback("--to", "larder-000001") // it has only commodities
  })

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
  ])("returns an empty page of the search, and charges it: '%s'", async (query) => {
    const { headers, status, text } = await api.get(`/v1/branded-foods${query}`)
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, emptyPage, "10"])
  })

  it("returns an empty list of categories, and charges it", async () => {
    const { headers, status, text } = await api.get("/v1/branded-foods/categories")
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, '{"data":[]}', "10"])
  })

  it("names branded foods as missing in /readyz", async () => {
    const ready = await (await fetch(`${api.server().console}/readyz`)).json()
    expect(ready).toMatchObject({ status: "ready", missing: expect.arrayContaining(["branded_foods"]) })
  })

  it("responds with 404 to an id, and charges nothing", async () => {
    const id = "data_branded_food_0soq3xi"
    const reply = await api.get(`/v1/branded-foods/${id}`)
    expect([formatError(reply), reply.headers["x-credits-charged"]]).toEqual([
      `404 not_found: Unknown branded food: ${id}`,
      "0"
    ])
  })
})

describe("storefronts that are not loaded", () => {
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
  ])("returns an empty page of the search, and charges it: '%s'", async (query) => {
    const { headers, status, text } = await api.get(`/v1/stores${query}`)
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, emptyPage, "100"])
  })

  it.each([
    ["/v1/stores/platform_store_x", "store: platform_store_x"],
    ["/v1/stores/platform_store_x/products", "store: platform_store_x"],
    ["/v1/stores/platform_store_x/collections", "store: platform_store_x"],
    ["/v1/products/platform_product_x", "product: platform_product_x"]
  ])("responds with 404 to an id, and charges nothing: %s", async (path, message) => {
    const reply = await api.get(path)
    expect([formatError(reply), reply.headers["x-credits-charged"]]).toEqual([`404 not_found: Unknown ${message}`, "0"])
  })

  it.each(["/v1/stores/x/products", "/v1/stores/x/collections"])(
    "accepts a `limit` above 200, however large: %s",
    async (path) => {
      for (const limit of ["200", "201", "100000", "9".repeat(400)]) {
        expect((await api.get(`${path}?limit=${limit}`)).status).toBe(404) // the limit is accepted; the store is unknown
      }
    }
  )

  it.each(["/v1/stores", "/v1/stores/x/products", "/v1/stores/x/collections"])(
    "rejects a `limit` that is not a whole number of at least 1: %s",
    async (path) => {
      for (const limit of ["0", "-1", "1.5", "x", "", "1e2", "%2B1"]) {
        expect(formatError(await api.get(`${path}?limit=${limit}`))).toBe(invalidLimit)
      }
    }
  )

  it.each(["USA", "U", "1A", "Ü1"])("rejects a `country` that is not a two-letter code: %s", async (country) => {
    expect(formatError(await api.get(`/v1/stores?country=${encodeURIComponent(country)}`))).toMatch(
      /^400 invalid_request: country /
    )
  })
})

/** A generation with commodities that were read from the network. */
let liveGeneration = ""

describe("a data set with rows of its source", () => {
  beforeAll(async () => {
    liveGeneration = makeGeneration(api.home(), ({ data_sets, number }) => {
      Object.assign(data_sets.commodities ?? {}, { origins: ["live"], changed_in: number })
    })
    await waitUntilServed(api.server(), liveGeneration)
  })

  it("is live, and so is a data set that is not loaded, even on errors", async () => {
    expect(await readProvenance(classIII)).toEqual([liveGeneration, "live"])
    expect(await readProvenance("/v1/commodities?limit=0")).toEqual([liveGeneration, "live"])
    expect((await readProvenance("/v1/stores"))[1]).toBe("live")
  })
})

describe("a generation that cannot be served", () => {
  const fetchReadiness = async () => {
    const response = await fetch(`${api.server().console}/readyz`)
    return [response.status, await response.json()]
  }

  it("is skipped: the previous one stays live, /readyz and the log explain why, and a rollback repairs it", async () => {
    const before = await readPrices()
    const broken = makeGeneration(api.home(), ({ data_sets, number }) => {
      const [database] = data_sets.commodities?.parts ?? []
      const parts = [{ ...database, sha256: "0".repeat(64) }]
      Object.assign(data_sets.commodities ?? {}, { changed_in: number, published_in: number, parts })
    })
    const fault = `commodities of ${broken} cannot be served`
    const ready = { status: "ready", fault: `${fault}: see the log` }
    await expect.poll(fetchReadiness, { interval: 50 }).toMatchObject([200, ready])
    expect(await readPrices()).toEqual(before)
    expect(api.server().logs()).toContain(`${fault}; ${before[0]} is still served`)
    expect(api.server().logs()).toMatch(/commodities\.duckdb of commodities .+ is missing/)
    const replay = makeRecording("16.20", "10/21/2026 13:04:36")
    const refused = await run("larder-ingest", ["commodities", "--replay", replay], { LARDER_HOME: api.home() })
    rmSync(replay, { recursive: true })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/is missing\..* larder-ingest rebuild commodities/)
    ])
    const rolledBack = await rollback("--only", "commodities", "--to", liveGeneration)
    expect((await fetchReadiness())[1]).not.toHaveProperty("fault")
    expect(await readPrices()).toEqual([rolledBack, before[1]])
  })
})

describe("a warehouse without commodities", () => {
  let empty = ""
  beforeAll(async () => {
    const foods = await run("larder-ingest", ["branded-foods"], { LARDER_HOME: api.home() })
    expect([foods.code, foods.stdout]).toEqual([0, expect.stringContaining("branded-foods: published ")])
    empty = await rollback("--only", "commodities") // to the state before its first run
  })

  it("is served, and /readyz names the missing data set", async () => {
    const response = await fetch(`${api.server().console}/readyz`)
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: "ready", generation: empty, missing: expect.arrayContaining(["commodities"]) }
    ])
  })

  it.each([
    ["/v1/commodities", '{"data":[]}'],
    ["/v1/commodities?commodity=butter", '{"data":[]}'],
    ["/v1/commodities?limit=10", '{"data":[],"next_cursor":null}'],
    ["/v1/commodities?category=dairy", '{"data":[],"next_cursor":null}']
  ])("returns empty catalogs: %s", async (target, text) => {
    const reply = await api.get(target)
    expect([reply.status, reply.text, reply.headers["x-data-version"]]).toEqual([200, text, empty])
  })

  it("has no series and no metric", async () => {
    expect(formatError(await api.get("/v1/commodities/prices?series=butter-sales-price-weekly"))).toBe(
      "400 invalid_request: Unknown series: butter-sales-price-weekly"
    )
    expect(formatError(await api.get("/v1/commodities/metric-values?metrics=a,b"))).toBe(
      "400 invalid_request: Unknown metrics: a, b"
    )
  })
})
