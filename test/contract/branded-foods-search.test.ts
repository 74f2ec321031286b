/** The five filters of the search. The tests of `warehouse/search` compare it with a scan of every label. */
import { brandedFoodId } from "@larder/schemas"
import { describe, expect, it } from "vitest"
import { fetchPages } from "../support/api/pages.ts"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { aLabel, ingestLabels, type Label, makeHome } from "../support/label-releases.ts"
import { run, waitUntilServed } from "../support/programs.ts"

interface Page {
  readonly data: ReadonlyArray<{ readonly id: string; readonly fdc_id: number; readonly category: string | null }>
  readonly next_cursor: string | null
}
const formatQuery = (filters: Readonly<Record<string, string>>) =>
  Object.entries(filters)
    .map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
    .join("&")

const stated: ReadonlyArray<Partial<Label>> = [
  {
    description: "Crème Brûlée, 100% MÜSLI",
    brand_owner: "Larkspur & Sons",
    brand_name: "Nordhof",
    subbrand_name: "Käserei",
    branded_food_category: "Candy",
    ingredients: 'SUGAR, SALT (SEA), "NATURAL" FLAVOR*.'
  },
  {
    description: "OAT_MILK \\ 1L",
    brand_owner: "Nordhof Dairy",
    brand_name: "OATLY'S",
    branded_food_category: "CANDY",
    ingredients: "WATER, OATS 10%, SEA SALT"
  },
  {
    description: "OAT MILK 1L",
    brand_owner: "Sons",
    brand_name: "of Nordhof",
    branded_food_category: "Chewing Gum & Mints",
    ingredients: "WATER, OATS, SALT"
  },
  { description: "Sugar", branded_food_category: "Candy Bars" }
]
const barcodes = [
  "059642932491",
  "04252614", // a UPC-E
  "042100005264", // the UPC-A that it abbreviates
  "012345000065",
  "012300000451",
  "012340000053",
  "112345000062",
  "0-12345-67890-5",
  "8906004982514abf",
  "96385074", // eight digits that abbreviate nothing
  "00000004567899", // a padded UPC-E
  "0-567895-2", // a hyphenated one
  "6789169" // without its zero: seven digits are not a UPC-E
]
const firstBarcode = 101
const labels = [
  ...stated.map((label, index) => aLabel({ ...label, fdc_id: 1 + index })),
  ...barcodes.map((gtin_upc, index) => aLabel({ fdc_id: firstBarcode + index, gtin_upc, description: "X" }))
]

/** Labels that a release changes while a client follows cursors. */
const released = [10, 20, 30, 40, 50].map((fdc_id) =>
  aLabel({ fdc_id, gtin_upc: `0000000000${fdc_id}`, publication_date: "2025-04-24", description: `BARLEY-${fdc_id}` })
)
/** The release: new products before and behind the cursor, and new versions of the first and the fourth product. */
const laterReleased = [
  aLabel({ fdc_id: 5, gtin_upc: "000000000005", publication_date: "2026-04-30", description: "BARLEY-5" }),
  aLabel({ fdc_id: 45, gtin_upc: "000000000045", publication_date: "2026-04-30", description: "BARLEY-45" }),
  aLabel({ fdc_id: 60, gtin_upc: "000000000010", publication_date: "2026-04-30", description: "BARLEY-60" }),
  aLabel({ fdc_id: 70, gtin_upc: "000000000040", publication_date: "2026-04-30", description: "BARLEY-70" })
]

describe("filters", () => {
  const api = startOwnServer({ home: () => makeHome([...labels, ...released]) })
  const searchIds = async (filters: Readonly<Record<string, string>>) => {
    const { json, status } = await api.get(`/v1/branded-foods?${formatQuery(filters)}`)
    expect(status).toBe(200)
    return (json as Page).data.map(({ fdc_id }) => fdc_id)
  }
  const all = [...labels, ...released].map(({ fdc_id }) => fdc_id).toSorted((a, b) => a - b)

  it.each([
    ["oat milk", [3]],
    ["OAT", [2, 3]],
    ["at mi", [3]],
    ["oat_milk", [2]],
    ["%", [1]],
    ["100% m", [1]],
    ["_", [2]],
    ["\\", [2]],
    ["*", []],
    ["MÜSLI", [1]],
    ["müsli", [1]],
    ["musli", []],
    ["CRÈME BRÛLÉE,", [1]],
    ["é", [1]],
    [" ", [1, 2, 3]],
    ["oat milk ", [3]],
    [" oat", []],
    ["oat  milk", []],
    ["larkspur", []],
    ["salt", []],
    ["sugar", [4]],
    ["", all]
  ])("finds `name` in the product name, literally and ignoring case: '%s'", async (name, expected) => {
    expect(await searchIds({ name })).toEqual(expected)
  })

  it.each([
    ["larkspur", [1]],
    ["NORDHOF", [1, 2, 3]],
    ["käse", [1]],
    ["KÄSE", [1]],
    ["sons", [1, 3]],
    ["& s", [1]],
    ["oatly's", [2]],
    ["oat", [2]],
    ["sons nordhof", []],
    ["sonsof", []],
    ["sons of", []],
    ["", all]
  ])("finds `brand` in the owner, the brand or the sub-brand, not across them: '%s'", async (brand, expected) => {
    expect(await searchIds({ brand })).toEqual(expected)
  })

  it.each([
    ["Candy", [1, 2]],
    ["cAnDy", [1, 2]],
    ["candy bars", [4]],
    ["chewing gum & mints", [3]],
    ["chewing gum", []],
    ["cand", []],
    ["candy ", []],
    ["%", []],
    ["", all]
  ])("compares `category` with the whole category, ignoring case: '%s'", async (category, expected) => {
    expect(await searchIds({ category })).toEqual(expected)
  })

  it.each([
    ["salt", [1, 2, 3]],
    ["sea salt", [2]],
    ["salt (sea), ", [1]],
    ['"natural"', [1]],
    ["flavor*.", [1]],
    ["flavor**", []],
    ["oats, salt", [3]],
    ["10%", [2]],
    ["0%", [2]],
    [",", [1, 2, 3]],
    ["müsli", []],
    ["", all]
  ])("finds `ingredient` in the ingredient statement: '%s'", async (ingredient, expected) => {
    expect(await searchIds({ ingredient })).toEqual(expected)
  })

  it.each([
    [{ name: "oat", ingredient: "sea salt" }, [2]],
    [{ name: "oat", ingredient: "salt" }, [2, 3]],
    [{ name: "1l", brand: "nordhof", category: "candy", ingredient: "water" }, [2]],
    [{ brand: "nordhof", category: "candy" }, [1, 2]],
    [{ brand: "nordhof", category: "candy bars" }, []],
    [{ name: "x", barcode: "059642932491" }, [101]],
    [{ name: "oat", barcode: "059642932491" }, []],
    [{ name: "oat", brand: "", category: "", barcode: "", ingredient: "", cursor: "" }, [2, 3]]
  ] as ReadonlyArray<readonly [Readonly<Record<string, string>>, ReadonlyArray<number>]>)(
    "combines filters with AND, and ignores empty ones: %j",
    async (filters, expected) => {
      expect(await searchIds(filters)).toEqual(expected)
    }
  )

  it.each([
    ["059642932491", [101]],
    ["59642932491", [101]],
    ["0059642932491", [101]],
    ["00059642932491", [101]],
    ["000059642932491", []], // more digits than a GTIN has
    ["59642932490", []],
    ["9642932491", []],
    ["012345678905", [108]],
    ["12345678905", [108]],
    ["96385074", [110]],
    ["096385074", [110]]
  ])("compares `barcode` without leading zeros: %s", async (barcode, expected) => {
    expect(await searchIds({ barcode })).toEqual(expected)
  })

  it.each([
    ["04252614", [102, 103]],
    ["042100005264", [102, 103]],
    ["42100005264", [102, 103]],
    ["00042100005264", [102, 103]],
    ["4252614", [102]], // seven digits are not a UPC-E
    ["045678000099", [111]],
    ["04567899", [111]],
    ["056789000052", [112]],
    ["05678952", [112]],
    ["067891000069", []],
    ["06789169", [113]],
    ["01234565", [104]],
    ["01234531", [105]],
    ["01234543", [106]],
    ["11234562", [107]]
  ])("finds a UPC-E and the UPC-A that it abbreviates by either one: %s", async (barcode, expected) => {
    expect(await searchIds({ barcode })).toEqual(expected)
  })

  it.each([
    "12ab",
    "8906004982514abf",
    "8906004982514",
    "0-12345-67890-5",
    "059642932491 ",
    " 059642932491",
    "+59642932491",
    "-059642932491",
    "59642932491.0",
    "5.9642932491e10",
    "0x59642932491",
    "０５９６４２９３２４９１",
    "059642932491,04252614",
    "%",
    "9".repeat(400)
  ])("returns 200 without rows for a `barcode` that has other characters than digits: '%s'", async (barcode) => {
    const { headers, status, text } = await api.get(`/v1/branded-foods?${formatQuery({ barcode })}`)
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, '{"data":[],"next_cursor":null}', "10"])
  })

  it.each(["\n", "\0", "\ud83d", "\u2028"])(
    "returns no rows, or responds with 400, for a text that no label can have: %j",
    async (text) => {
      const escaped = text === "\ud83d" ? "%ED%A0%BD" : encodeURIComponent(text)
      const reply = await api.get(`/v1/branded-foods?name=${escaped}`)
      expect([200, 400]).toContain(reply.status)
      if (reply.status === 200) expect(reply.json).toEqual({ data: [], next_cursor: null })
    }
  )

  describe("a release published while a client follows cursors", () => {
    const listIds = (rows: ReadonlyArray<unknown>) => rows.map((row) => (row as Page["data"][number]).fdc_id)

    it("returns every row that exists throughout exactly once, and is undone by a rollback", async () => {
      const events = [
        async () => {
          const { generation } = await ingestLabels(api.home(), "json", laterReleased, "2026-08-31")
          expect(generation).toBe("larder-000002")
          await waitUntilServed(api.server(), "larder-000002")
        }
      ]
      const pages = await fetchPages(api.get, "/v1/branded-foods?name=barley&limit=2", async () => {
        await events.shift()?.()
      })
      // 10 was current when it was read, 5 was added before the cursor, 40 was replaced before it was read
      expect(pages.map(listIds)).toEqual([[10, 20], [30, 45], [50, 60], [70]])
      expect(listIds((await fetchPages(api.get, "/v1/branded-foods?name=barley")).flat())).toEqual([
        5, 20, 30, 45, 50, 60, 70
      ])

      const old = await api.get(`/v1/branded-foods/${brandedFoodId(40)}`)
      expect([old.status, old.headers["x-data-version"], old.json]).toMatchObject([
        200,
        "larder-000002",
        { data: { fdc_id: 40, published_on: "2025-04-24" } }
      ])

      const { code } = await run("larder-ingest", ["rollback"], { LARDER_HOME: api.home() })
      expect(code).toBe(0)
      await waitUntilServed(api.server(), "larder-000003")
      expect(listIds((await fetchPages(api.get, "/v1/branded-foods?name=barley&limit=2")).flat())).toEqual([
        10, 20, 30, 40, 50
      ])
      expect(formatError(await api.get(`/v1/branded-foods/${brandedFoodId(70)}`))).toBe(
        `404 not_found: Unknown branded food: ${brandedFoodId(70)}`
      )
    })
  })
})
