/** Pages, cursors and categories of branded foods, over the bundled samples. */
import { brandedFoodId } from "@larder/schemas"
import { cursorScope, encodeCursor } from "@larder/serve/api/cursor.ts"
import { beforeAll, describe, expect, it } from "vitest"
import { fetchPages } from "../support/api/pages.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

interface Page {
  readonly data: ReadonlyArray<{ readonly id: string; readonly fdc_id: number; readonly category: string | null }>
  readonly next_cursor: string | null
}

const textFields = [
  ["name", ["description"]],
  ["brand", ["brand_owner", "brand_name", "subbrand_name"]],
  ["ingredient", ["ingredients"]]
] as const

describe("pages and categories of branded foods", () => {
  const api = useSharedServer()
  const getPage = async (query: string) => (await api.get(`/v1/branded-foods?${query}`)).json as Page
  let allFoods: Page["data"]
  beforeAll(async () => {
    allFoods = (await fetchPages(api.get, "/v1/branded-foods?limit=200")).flat() as unknown as Page["data"]
  })
  const getCategories = async () =>
    (
      (await api.get("/v1/branded-foods/categories")).json as {
        readonly data: ReadonlyArray<{ readonly category: string; readonly product_count: number }>
      }
    ).data

  it("returns 50 rows by default and 200 at most, ordered by fdc_id, each row once", async () => {
    expect(allFoods.length).toBeGreaterThan(500)
    const ids = allFoods.map(({ fdc_id }) => fdc_id)
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
    expect((await getPage("")).data).toEqual(allFoods.slice(0, 50))
    expect((await getPage("limit=200")).data).toEqual(allFoods.slice(0, 200))
    expect((await getPage("limit=0001")).data).toEqual(allFoods.slice(0, 1))
  })

  it.each([7, 50, 199])("returns the whole list in pages of %i", async (limit) => {
    const pages = await fetchPages(api.get, `/v1/branded-foods?limit=${limit}&ingredient=cocoa`)
    const whole = (await fetchPages(api.get, "/v1/branded-foods?limit=200&ingredient=cocoa")).flat()
    expect(whole.length).toBeGreaterThan(50)
    expect(pages.flat()).toEqual(whole)
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
  })

  it.each(["%", "\\", '"', "'", ",", "é", "ß", "10", "0%"])(
    "finds '%s' in every label that contains it",
    async (text) => {
      const rows = allFoods as unknown as ReadonlyArray<Readonly<Record<string, unknown>>>
      for (const [filter, fields] of textFields) {
        const expected = rows.filter((row) =>
          fields.some((field) =>
            String(row[field] ?? "")
              .toLowerCase()
              .includes(text)
          )
        )
        const query = `${filter}=${encodeURIComponent(text)}&limit=${Math.min(200, Math.max(3, Math.ceil(expected.length / 4)))}`
        expect((await fetchPages(api.get, `/v1/branded-foods?${query}`)).flat()).toEqual(expected)
      }
    }
  )

  it("ends with a null cursor, even if the last page is exactly full", async () => {
    const { category, product_count } = (await getCategories()).find(({ product_count: n }) => n > 3 && n < 200) ?? {
      category: "",
      product_count: 0
    }
    const filter = `category=${encodeURIComponent(category)}`
    const whole = await getPage(`${filter}&limit=${product_count}`)
    expect([whole.data.length, whole.next_cursor]).toEqual([product_count, null])
    const firstPage = await getPage(`${filter}&limit=${product_count - 1}`)
    expect(firstPage.next_cursor).not.toBeNull()
    const rest = await getPage(`${filter}&limit=1&cursor=${firstPage.next_cursor}`)
    expect([[...firstPage.data, ...rest.data], rest.next_cursor]).toEqual([whole.data, null])
  })

  it("counts the products of each category as the search finds them", async () => {
    const counted = new Map<string, number>()
    for (const { category } of allFoods) if (category !== null) counted.set(category, (counted.get(category) ?? 0) + 1)
    const data = await getCategories()
    expect(data.length).toBeGreaterThan(30)
    expect(new Map(data.map(({ category, product_count }) => [category, product_count]))).toEqual(counted)
    const names = data.map(({ category }) => category)
    expect(names).toEqual([...new Set(names)].toSorted())
    for (const { category, product_count } of data.slice(0, 5)) {
      const pages = await fetchPages(
        api.get,
        `/v1/branded-foods?limit=200&category=${encodeURIComponent(category.toUpperCase())}`
      )
      expect(pages.flat().length).toBe(product_count)
    }
  })

  it("returns the same records as the single-food endpoint", async () => {
    const { data } = await getPage("limit=3")
    for (const record of data) expect((await api.get(`/v1/branded-foods/${record.id}`)).json).toEqual({ data: record })
  })

  const damaged = "400 invalid_request: cursor is damaged, or belongs to another endpoint, id or set of filters"
  const getCursor = async (query: string) => {
    const { next_cursor } = await getPage(query)
    if (next_cursor === null) throw new Error(`${query} has no next page`)
    return next_cursor
  }

  it("rejects a cursor with other filters than its own", async () => {
    const unfiltered = await getCursor("limit=1")
    const filtered = await getCursor("name=e&limit=1")
    for (const query of [
      `name=e&cursor=${unfiltered}`,
      `brand=e&cursor=${unfiltered}`,
      `ingredient=e&cursor=${unfiltered}`,
      `category=Candy&cursor=${unfiltered}`,
      `barcode=1&cursor=${unfiltered}`,
      `cursor=${filtered}`,
      `name=E&cursor=${filtered}`,
      `name=ee&cursor=${filtered}`,
      `brand=e&cursor=${filtered}`,
      `name=e&brand=e&cursor=${filtered}`
    ]) {
      expect(formatError(await api.get(`/v1/branded-foods?${query}`))).toBe(damaged)
    }
    const rest = await getPage(`name=&brand=&limit=2&cursor=${unfiltered}`)
    expect(rest.data).toEqual((await getPage("limit=3")).data.slice(1))
  })

  it("rejects a cursor of another endpoint", async () => {
    const { next_cursor } = (await api.get("/v1/commodities?limit=1")).json as Page
    expect(formatError(await api.get(`/v1/branded-foods?cursor=${next_cursor}`))).toBe(damaged)
    expect(formatError(await api.get(`/v1/commodities?cursor=${await getCursor("limit=1")}`))).toBe(damaged)
  })

  it.each(["abc", "", "1e5", "-1", "99999999999", null])(
    "rejects the position %j, which the API never issued, and charges nothing",
    async (position) => {
      const cursor = encodeCursor(cursorScope("searchBrandedFoods", "", {}), [position])
      const reply = await api.get(`/v1/branded-foods?cursor=${cursor}`)
      expect([formatError(reply), reply.headers["x-credits-charged"]]).toEqual([damaged, "0"])
    }
  )

  it("rejects a cursor with any changed, added or missing character", async () => {
    const cursor = await getCursor("name=e&limit=1")
    const texts = [...cursor].flatMap((character, at) => [
      cursor.slice(0, at) + (character === "A" ? "B" : "A") + cursor.slice(at + 1),
      cursor.slice(0, at) + cursor.slice(at + 1),
      `${cursor.slice(0, at)}A${cursor.slice(at)}`
    ])
    const wrong = texts.filter((text) => text !== cursor)
    const replies = await Promise.all(wrong.map((text) => api.get(`/v1/branded-foods?name=e&limit=1&cursor=${text}`)))
    expect(new Set(replies.map(formatError))).toEqual(new Set([damaged]))
  })

  it("responds with 404 for the id of a label version that does not exist", async () => {
    const id = brandedFoodId(1)
    expect(formatError(await api.get(`/v1/branded-foods/${id}`))).toBe(`404 not_found: Unknown branded food: ${id}`)
  })
})
