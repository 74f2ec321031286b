/** Which label of a product is current, and what of that the endpoints tell. */
import { brandedFoodId } from "@larder/schemas/branded-food/id.ts"
import { describe, expect, it } from "vitest"
import { pagesOf } from "../support/api/pages.ts"
import { errorOf, servedAlone } from "../support/api/served.ts"
import { aLabel, forms, homeWith, ingestLabels, type Label } from "../support/label-releases.ts"
import { run, untilServed } from "../support/programs.ts"

interface Page {
  readonly data: ReadonlyArray<{ readonly fdc_id: number; readonly description: string }>
  readonly next_cursor: string | null
}

/** Versions of products, the current one last. */
const histories: ReadonlyArray<readonly [string, ReadonlyArray<Omit<Partial<Label>, "gtin_upc">>]> = [
  ["the one published last", [{ publication_date: "2020-11-13" }, { publication_date: "2021-02-26" }]],
  [
    "the one published last, also where its id is lower",
    [
      { fdc_id: 119, publication_date: "2021-02-26" },
      { fdc_id: 118, publication_date: "2022-05-23" }
    ]
  ],
  [
    "the one published last, whatever it says of availability and changes",
    [
      { publication_date: "2021-02-26", available_date: "2025-01-01", modified_date: "2025-01-01" },
      { publication_date: "2021-02-27", available_date: "2019-01-01", modified_date: "2019-01-01" }
    ]
  ],
  [
    "of those published on one day, in either spelling, the one available last",
    [
      { fdc_id: 139, publication_date: "2021-02-26", available_date: "2021-01-01", modified_date: "2021-01-01" },
      { fdc_id: 138, publication_date: "2/26/2021", available_date: "2021-01-02", modified_date: "2019-01-01" }
    ]
  ],
  [
    "of those the one modified last",
    [
      { fdc_id: 149, available_date: "2021-01-01", modified_date: "2020-12-01" },
      { fdc_id: 148, available_date: "2021-01-01", modified_date: "2020-12-02" }
    ]
  ],
  [
    "of those the one with the highest fdc_id",
    [{ modified_date: "2020-12-01" }, { modified_date: "2020-12-01" }, { modified_date: "2020-12-01" }]
  ],
  [
    "the newest, whatever country it is sold in",
    [
      { market_country: "New Zealand", publication_date: "2020-11-13" },
      { market_country: "United States", publication_date: "2020-11-14" }
    ]
  ],
  [
    "the newest, also where it is discontinued",
    [{ publication_date: "2020-11-13" }, { publication_date: "2021-02-26", discontinued_date: "2021-06-01" }]
  ]
]

const products = histories.map(([, versions], product) =>
  versions.map((version, index) =>
    aLabel({
      fdc_id: 100 + 10 * product + index,
      gtin_upc: `0596429324${10 + product}`,
      description: `PRODUCT ${product}`,
      branded_food_category: index === versions.length - 1 ? "New" : "Old",
      ...version
    })
  )
)

const others: ReadonlyArray<Label> = [
  // one barcode, two sources, differently padded: two products
  aLabel({ fdc_id: 300, data_source: "LI", gtin_upc: "041220576074", description: "TWIN" }),
  aLabel({ fdc_id: 301, data_source: "GDSN", gtin_upc: "00041220576074", description: "TWIN" }),
  aLabel({
    fdc_id: 302,
    data_source: "GDSN",
    gtin_upc: "41220576074",
    description: "TWIN",
    publication_date: "2019-04-01"
  }),
  // one barcode of one source, differently padded: one product
  aLabel({ fdc_id: 310, gtin_upc: "813090000000", description: "PADDED", publication_date: "2019-04-01" }),
  aLabel({ fdc_id: 311, gtin_upc: "00813090000000", description: "PADDED" }),
  // without a barcode each label is a product of its own
  aLabel({ fdc_id: 320, description: "BARE" }),
  aLabel({ fdc_id: 321, description: "BARE" })
]
const labels = [...products.flat(), ...others]

describe.each(forms)("the current label, out of the %s form", (form) => {
  // the order of the rows tells nothing
  const api = servedAlone({ home: () => homeWith(labels.toReversed(), form) })
  const found = async (query: string) => {
    const { json } = await api.get(`/v1/branded-foods?${query}`)
    return (json as Page).data.map(({ fdc_id }) => fdc_id)
  }

  it.each(histories.map(([rule], product) => [rule, product] as const))("is %s", async (_, product) => {
    const current = products[product]?.at(-1)
    expect(await found(`name=product+${product}`)).toEqual([current?.fdc_id])
    expect(await found(`barcode=${current?.gtin_upc}`)).toEqual([current?.fdc_id])
  })

  it("stands once per source: twins are both found", async () => {
    expect(await found("name=twin")).toEqual([300, 301])
    expect(await found("barcode=041220576074")).toEqual([300, 301])
  })

  it("stands once per barcode, however it is padded", async () => {
    expect(await found("name=padded")).toEqual([311])
    expect(await found("barcode=813090000000")).toEqual([311])
  })

  it("is every label that has no barcode", async () => {
    expect(await found("name=bare")).toEqual([320, 321])
  })

  it("is what search and categories cover; older ones are read by id", async () => {
    const current = [...products.map((versions) => versions.at(-1)?.fdc_id), 300, 301, 311, 320, 321]
    expect(await found("limit=200")).toEqual(current.toSorted((a, b) => Number(a) - Number(b)))
    expect(await found("category=old")).toEqual([])
    const categories = await api.get("/v1/branded-foods/categories")
    expect(categories.json).toEqual({ data: [{ category: "New", product_count: products.length }] })
    for (const { description, fdc_id } of labels) {
      const { json, status } = await api.get(`/v1/branded-foods/${brandedFoodId(fdc_id)}`)
      expect([status, json]).toMatchObject([200, { data: { fdc_id, description, id: brandedFoodId(fdc_id) } }])
    }
  })
})

describe("a release that comes while a client follows cursors", () => {
  const before = [10, 20, 30, 40, 50].map((fdc_id) =>
    aLabel({ fdc_id, gtin_upc: `0000000000${fdc_id}`, publication_date: "2025-04-24", description: `OATS ${fdc_id}` })
  )
  /** New products before and behind the cursor, and new versions of the first and the fourth product. */
  const after = [
    aLabel({ fdc_id: 5, gtin_upc: "000000000005", publication_date: "2026-04-30", description: "OATS 5" }),
    aLabel({ fdc_id: 45, gtin_upc: "000000000045", publication_date: "2026-04-30", description: "OATS 45" }),
    aLabel({ fdc_id: 60, gtin_upc: "000000000010", publication_date: "2026-04-30", description: "OATS 60" }),
    aLabel({ fdc_id: 70, gtin_upc: "000000000040", publication_date: "2026-04-30", description: "OATS 70" })
  ]
  const api = servedAlone({ home: () => homeWith(before) })

  const idsOf = (rows: ReadonlyArray<unknown>) => rows.map((row) => (row as Page["data"][number]).fdc_id)

  it("every row that was there throughout comes once, over the new release, a restart and a rollback", async () => {
    const events = [
      async () => {
        const { generation } = await ingestLabels(api.home(), "json", after, "2026-08-31")
        expect(generation).toBe("larder-000002")
        await untilServed(api.server(), "larder-000002")
      },
      () => api.restart()
    ]
    const pages = await pagesOf(api.get, "/v1/branded-foods?name=oats&limit=2", async () => {
      await events.shift()?.()
    })
    // 10 was current when it was read, 5 came behind the cursor's back, 40 was replaced before it was read
    expect(pages.map(idsOf)).toEqual([[10, 20], [30, 45], [50, 60], [70]])
    expect(idsOf((await pagesOf(api.get, "/v1/branded-foods?name=oats")).flat())).toEqual([5, 20, 30, 45, 50, 60, 70])

    const old = await api.get(`/v1/branded-foods/${brandedFoodId(40)}`)
    expect([old.status, old.headers["x-data-version"], old.json]).toMatchObject([
      200,
      "larder-000002",
      { data: { fdc_id: 40, published_on: "2025-04-24" } }
    ])

    const { code } = await run("larder-ingest", ["rollback"], { LARDER_HOME: api.home() })
    expect(code).toBe(0)
    await untilServed(api.server(), "larder-000001")
    expect(idsOf((await pagesOf(api.get, "/v1/branded-foods?name=oats&limit=2")).flat())).toEqual([10, 20, 30, 40, 50])
    expect(errorOf(await api.get(`/v1/branded-foods/${brandedFoodId(70)}`))).toBe(
      `404 not_found: Unknown branded food: ${brandedFoodId(70)}`
    )
  })
})
