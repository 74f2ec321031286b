/** Branded foods and storefronts as they behave while their data is not loaded: everything but rows is in force. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { errorOf, servedAlone } from "../support/api/served.ts"
import { run } from "../support/programs.ts"

/** A home with the bundled commodities and nothing else. */
const commoditiesAlone = async () => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-commodities-"))
  const { code, stderr } = await run("larder-ingest", ["commodities"], { LARDER_HOME: home })
  if (code !== 0) throw new Error(`larder-ingest commodities ended with ${code}:\n${stderr}`)
  return home
}

const api = servedAlone({ home: commoditiesAlone })
const emptyPage = '{"data":[],"next_cursor":null}'
const notWhole = "400 invalid_request: limit must be a whole number of at least 1"

describe("branded foods that are not loaded", () => {
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
