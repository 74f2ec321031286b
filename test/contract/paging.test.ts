import { cursorScope, encodeCursor } from "@larder/serve/api/cursor.ts"
import { describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { fetchPages } from "../support/api/pages.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const damaged = "400 invalid_request: cursor is damaged, or belongs to another endpoint, id or set of filters"

const getPage = async (query: string, key?: string) =>
  (await api.get(`/v1/commodities?${query}`, key === undefined ? {} : { key })).json as {
    readonly data: ReadonlyArray<{ readonly slug: string }>
    readonly next_cursor: string | null
  }
const getCursor = async (query: string) => {
  const { next_cursor } = await getPage(query)
  if (next_cursor === null) throw new Error(`${query} has no next page`)
  return next_cursor
}

describe("pages", () => {
  it.each([1, 2, 3, 5, 7, 10, 20, 21, 22, 500])("of %i rows together contain each row once", async (limit) => {
    const { data } = await getPage("limit=500")
    const pages = await fetchPages(api.get, `/v1/commodities?limit=${limit}`)
    expect(pages.flat()).toEqual(data)
    expect(pages.map((page) => page.length)).toEqual([
      ...Array.from({ length: Math.ceil(data.length / limit) - 1 }, () => limit),
      data.length % limit === 0 ? limit : data.length % limit
    ])
  })

  it("end with a null cursor, even if the last page is full", async () => {
    const { data, next_cursor } = await getPage("limit=21")
    expect([data.length, next_cursor]).toEqual([21, null])
    const last = await getPage(`limit=7&cursor=${await getCursor(`limit=7&cursor=${await getCursor("limit=7")}`)}`)
    expect([last.data.length, last.next_cursor]).toEqual([7, null])
  })

  it("of 1 row together contain the whole filtered list", async () => {
    const { data } = await getPage("category=dairy/whey")
    expect(data.length).toBeGreaterThan(2)
    expect((await fetchPages(api.get, "/v1/commodities?category=dairy/whey&limit=1")).flat()).toEqual(data)
  })

  it("start at the first row if `cursor` is missing or empty", async () => {
    const first = await api.get("/v1/commodities?limit=3")
    expect((await api.get("/v1/commodities?limit=3&cursor=")).text).toBe(first.text)
  })

  it("are the same for the same cursor", async () => {
    const target = `/v1/commodities?limit=3&cursor=${await getCursor("limit=3")}`
    expect((await api.get(target)).text).toBe((await api.get(target)).text)
  })

  it("are charged as one call each", async () => {
    const before = Number((await api.get("/v1/commodities?limit=1")).headers["x-credits-remaining"])
    const pages = await fetchPages(api.get, "/v1/commodities?limit=6")
    const after = Number((await api.get("/v1/commodities?limit=1")).headers["x-credits-remaining"])
    expect(before - after).toBe(10 * (pages.length + 1))
  })
})

describe("a cursor", () => {
  it("is URL-safe: it needs no encoding in a query", async () => {
    for (const limit of [1, 2, 3, 4, 5, 6]) expect(await getCursor(`limit=${limit}`)).toMatch(/^[\w-]+$/)
  })

  it("is valid with another `limit`", async () => {
    const rest = (await getPage("limit=500")).data.slice(4)
    expect((await getPage(`limit=500&cursor=${await getCursor("limit=4")}`)).data).toEqual(rest)
    expect((await getPage(`cursor=${await getCursor("limit=4")}`)).data).toEqual(rest)
    expect((await getPage(`limit=2&cursor=${await getCursor("limit=4")}`)).data).toEqual(rest.slice(0, 2))
  })

  it("is valid with a key of another account", async () => {
    const { key } = await createKey(api.home())
    const cursor = await getCursor("limit=4")
    expect(await getPage(`limit=3&cursor=${cursor}`, key)).toEqual(await getPage(`limit=3&cursor=${cursor}`))
  })

  it("is rejected with other filters; an empty filter counts as missing", async () => {
    const all = await getCursor("limit=1")
    const whey = await getCursor("category=dairy/whey&limit=1")
    expect((await getPage(`category=&limit=1&cursor=${all}`)).data.length).toBe(1)
    for (const query of [`category=dairy/whey&cursor=${all}`, `cursor=${whey}`, `category=dairy&cursor=${whey}`]) {
      expect(formatError(await api.get(`/v1/commodities?${query}`))).toBe(damaged)
    }
  })

  it("is rejected by another endpoint", async () => {
    const cursor = await getCursor("limit=1")
    for (const path of ["/v1/branded-foods", "/v1/stores", "/v1/stores/any/products", "/v1/stores/any/collections"]) {
      expect(formatError(await api.get(`${path}?cursor=${cursor}`))).toBe(damaged)
    }
  })

  it.each([
    ["null", [null]],
    ["no position", []],
    ["two positions", ["butter", "cheese"]]
  ] as const)("is rejected with a position that the API never issued, free of charge: %s", async (_, position) => {
    const cursor = encodeCursor(cursorScope("searchCommodities", "", {}), position)
    const reply = await api.get(`/v1/commodities?cursor=${cursor}`)
    expect([formatError(reply), reply.headers["x-credits-charged"]]).toEqual([damaged, "0"])
  })

  it("is rejected with another id in the path, or for another list", async () => {
    const scope = cursorScope("getStoreProducts", "platform_store_a", {})
    const cursor = encodeCursor(scope, ["1767225600000000", "platform_product_a"])
    const at = (id: string, list: string) => api.get(`/v1/stores/${id}/${list}?cursor=${cursor}`)
    expect(formatError(await at("platform_store_a", "products"))).toBe("404 not_found: Unknown store: platform_store_a")
    expect(formatError(await at("platform_store_b", "products"))).toBe(damaged)
    expect(formatError(await at("platform_store_a", "collections"))).toBe(damaged)
  })

  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
  const damages: ReadonlyArray<readonly [string, (cursor: string) => ReadonlyArray<string>]> = [
    [
      "when one bit of any character, or the whole last character, is changed",
      (cursor) =>
        [...cursor].flatMap((character, at) =>
          (at === cursor.length - 1 ? Array.from({ length: 63 }, (_, index) => index + 1) : [1, 2, 4, 8, 16, 32])
            .map((mask) => alphabet.charAt(alphabet.indexOf(character) ^ mask))
            .map((other) => cursor.slice(0, at) + other + cursor.slice(at + 1))
        )
    ],
    [
      "when any character is removed",
      (cursor) => [...cursor].map((_, at) => cursor.slice(0, at) + cursor.slice(at + 1))
    ],
    [
      "when a character is inserted anywhere",
      (cursor) =>
        Array.from({ length: cursor.length + 1 }, (_, at) =>
          ["A", "_", "7", "=", ".", "%20", "%00", "%2B", "é"].map(
            (added) => cursor.slice(0, at) + encodeURI(added).replace(/%25/g, "%") + cursor.slice(at)
          )
        ).flat()
    ],
    ["when truncated", (cursor) => [...cursor].slice(1).map((_, at) => cursor.slice(0, at + 1))],
    [
      "when repeated, upper-cased or reversed",
      (cursor) => [cursor + cursor, `${cursor},${cursor}`, cursor.toUpperCase(), [...cursor].toReversed().join("")]
    ]
  ]
  it.each(damages)("is rejected %s", async (_, damage) => {
    const texts = damage(await getCursor("limit=1"))
    expect(texts.length).toBeGreaterThan(3)
    const responses = await Promise.all(texts.map((text) => api.get(`/v1/commodities?limit=1&cursor=${text}`)))
    expect(texts.filter((_, index) => responses[index]?.status !== 400)).toEqual([])
    expect(new Set(responses.map(formatError))).toEqual(new Set([damaged]))
  })

  it.each(["null", "0", "butter", "%", "%zz", "WyJidXR0ZXIiXQ", "A".repeat(10_000), "%F0%9F%A5%9B"])(
    "is rejected if the API never issued it: %s",
    async (text) => {
      expect(formatError(await api.get(`/v1/commodities?cursor=${text}`))).toBe(damaged)
    }
  )
})
