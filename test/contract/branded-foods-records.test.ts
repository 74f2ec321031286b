/**
 * Labels in the API: each field of the record, equal for the JSON and the CSV form of a release, and the current label
 * version of each product.
 */
import { rmSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { brandedFoodId } from "@larder/schemas"
import { brandedFood, layoutOf, rebuildFrom } from "@larder/warehouse"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { startOwnServer } from "../support/api/server.ts"
import { aLabel, type Form, forms, makeHome } from "../support/label-releases.ts"
import { waitUntilServed } from "../support/programs.ts"
import { requireNewest } from "../support/warehouse/require-newest.ts"
import { labelRules } from "./branded-food-label-rules.ts"
import { nutritionRules } from "./branded-food-nutrition-rules.ts"
import { histories, products, versions, versionsBrand } from "./branded-food-versions.ts"
import { complete, completeRecord, type Expected, emptyRecord } from "./branded-food-whole-labels.ts"

const rules = [...labelRules, ...nutritionRules]
const labels = [complete, { data_source: "", publication_date: "" }, ...rules.map(([, stated]) => stated)].map(
  (stated, index) => aLabel({ ...stated, fdc_id: 1000 + index })
)

/** Reversed, because the order of the rows must not matter. */
const makeHomeFrom = (form: Form) => makeHome([...labels, ...versions].toReversed(), form)
const [firstForm] = forms
const api = startOwnServer({ home: () => makeHomeFrom(firstForm) })

/** Switches the server to a generation that was built from only this form, in another home. */
const switchTo = async (form: Form) => {
  const home = await makeHomeFrom(form)
  const replaceDataSet = Effect.gen(function* () {
    const layout = yield* layoutOf(api.home())
    const { data_sets } = yield* requireNewest(layout.depot)
    const from = yield* layoutOf(home)
    return yield* rebuildFrom({ layout, dataSet: brandedFood, from, since: data_sets["branded-foods"] })
  })
  await waitUntilServed(api.server(), await Effect.runPromise(Effect.provide(replaceDataSet, NodeServices.layer)))
  rmSync(home, { recursive: true })
}

describe.each(forms)("the %s form of a release", (form) => {
  beforeAll(() => (form === firstForm ? undefined : switchTo(form)))

  describe("a record", () => {
    const getRecord = async (fdcId: number): Promise<Expected> => {
      const { json, status } = await api.get(`/v1/branded-foods/${brandedFoodId(fdcId)}`)
      expect(status).toBe(200)
      return (json as { readonly data: Expected }).data
    }

    it("has exactly the fields of the API schema, in schema order", async () => {
      const found = await getRecord(1000)
      expect(Object.keys(found)).toEqual(["id", ...Object.keys(emptyRecord), "fetched_at"])
      expect(found).toEqual({ id: brandedFoodId(1000), ...completeRecord(form), fetched_at: expect.any(String) })
      expect(Object.keys(found.nutrition as object)).toEqual(Object.keys(completeRecord(form).nutrition as object))
    })

    it("returns null, [] and {} for values that the label does not have", async () => {
      expect(await getRecord(1001)).toEqual({ id: brandedFoodId(1001), ...emptyRecord, fetched_at: expect.any(String) })
    })

    it("returns when its payload was fetched, in UTC with milliseconds", async () => {
      const { fetched_at } = await getRecord(1000)
      expect(fetched_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const age = Date.now() - Date.parse(String(fetched_at))
      expect(age).toBeGreaterThan(0)
      expect(age).toBeLessThan(24 * 3600 * 1000)
    })

    it("is identical in search results", async () => {
      const { json } = await api.get("/v1/branded-foods?name=almond+brittle")
      expect(json).toEqual({ data: [await getRecord(1000)], next_cursor: null })
    })

    const rulesOfForm = rules
      .map(([rule, , expected, onlyForm = form], index) => ({ rule, expected, onlyForm, fdcId: 1002 + index }))
      .filter(({ onlyForm }) => onlyForm === form)
    it.each(rulesOfForm)("$rule", async ({ expected, fdcId }) => {
      const found = await getRecord(fdcId)
      expect(Object.fromEntries(Object.keys(expected).map((field) => [field, found[field]]))).toEqual(expected)
    })
  })

  describe("the current label", () => {
    const searchIds = async (query: string) => {
      const { json } = await api.get(`/v1/branded-foods?${query}`)
      return (json as { readonly data: ReadonlyArray<{ readonly fdc_id: number }> }).data.map(({ fdc_id }) => fdc_id)
    }

    it.each(histories.map(([rule], product) => [rule, product] as const))("is %s", async (_, product) => {
      const current = products[product]?.at(-1)
      expect(await searchIds(`name=product+${product}`)).toEqual([current?.fdc_id])
      expect(await searchIds(`barcode=${current?.gtin_upc}`)).toEqual([current?.fdc_id])
    })

    it("is found once for each data source with its barcode", async () => {
      expect(await searchIds("name=twin")).toEqual([300, 301])
      expect(await searchIds("barcode=041220576074")).toEqual([300, 301])
    })

    it("is found once for barcodes that differ only in zero-padding", async () => {
      expect(await searchIds("name=padded")).toEqual([311])
      expect(await searchIds("barcode=813090004442")).toEqual([311])
    })

    it("is any label without a barcode", async () => {
      expect(await searchIds("name=bare")).toEqual([320, 321])
    })

    it("is the only version in search and categories; older ones can be read by id", async () => {
      const current = [...products.map((versions) => versions.at(-1)?.fdc_id), 300, 301, 311, 320, 321]
      expect(await searchIds(`brand=${encodeURIComponent(versionsBrand)}&limit=200`)).toEqual(
        current.toSorted((a, b) => Number(a) - Number(b))
      )
      expect(await searchIds("category=old")).toEqual([])
      const { data } = (await api.get("/v1/branded-foods/categories")).json as { readonly data: ReadonlyArray<object> }
      expect(data).toContainEqual({ category: "New", product_count: products.length })
      expect(data).not.toContainEqual(expect.objectContaining({ category: "Old" }))
      for (const { description, fdc_id } of versions) {
        const { json, status } = await api.get(`/v1/branded-foods/${brandedFoodId(fdc_id)}`)
        expect([status, json]).toMatchObject([200, { data: { fdc_id, description, id: brandedFoodId(fdc_id) } }])
      }
    })
  })
})
