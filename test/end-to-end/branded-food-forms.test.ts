/** Each form of the bundled release gives the same records by itself. Takes about 10 s. */
import path from "node:path"
import { labelColumns } from "@larder/warehouse"
import { beforeAll, describe, expect, it } from "vitest"
import { type Form, forms, ingestFile } from "../support/label-releases.ts"
import { repository } from "../support/repository.ts"
import { labelsOf, recordsOf } from "./branded-foods.ts"
import { removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn } from "./small-releases.ts"

const releases = path.join(repository, "pipelines/branded-foods/samples/fdc.nal.usda.gov/fdc-datasets")
const homes: Record<Form, string> = { json: "", csv: "" }
let ids: ReadonlyArray<number> = []
beforeAll(async () => {
  for (const form of forms) {
    homes[form] = temporaryFolder()
    const zip = path.join(releases, `FoodData_Central_branded_food_${form}_2026-04-30.zip`)
    expect(await ingestFile(homes[form], zip)).toMatchObject({ outcome: "published", rows_rejected: 0 })
  }
  ids = await foodsIn(homes.json)
  return () => Object.values(homes).forEach(removeFolder)
})

describe("the bundled release", () => {
  it("has the same record for 1,212 labels from either form, except for three fields of JSON", async () => {
    const [jsonRecords, csvRecords] = [await recordsOf(homes.json, ids), await recordsOf(homes.csv, ids)]
    expect(ids.length).toBe(1212)
    const onlyJson = { gpc_class_code: null, caffeine_statement: null, footnote: null }
    for (const [index, fromJson] of jsonRecords.entries()) {
      expect({ ...csvRecords[index], fetched_at: "" }).toEqual({ ...fromJson, ...onlyJson, fetched_at: "" })
    }
    const count = (field: keyof typeof onlyJson) => jsonRecords.filter((record) => record?.[field] !== null).length
    for (const field of ["gpc_class_code", "caffeine_statement", "footnote"] as const) {
      expect(count(field), field).toBeGreaterThan(0)
    }
  })
  it("has the same warehouse row from either form, except for columns of only one form", async () => {
    const columns = ["form", "source_rows", "earlier_versions", "daily_values", ...labelColumns]
    const formColumns = [...columns, "gpc_class_code", "caffeine_statement", "footnote", "not_a_significant_source_of"]
    const rowsOf = async (form: Form) =>
      new Map(
        (await labelsOf(homes[form])).map((text) => {
          const row: Record<string, unknown> = JSON.parse(text)
          return [Number(row.fdc_id), { ...row, ...Object.fromEntries(formColumns.map((column) => [column, ""])) }]
        })
      )
    const [jsonRows, csvRows] = [await rowsOf("json"), await rowsOf("csv")]
    expect([...jsonRows.keys()]).toEqual(ids)
    for (const [id, row] of jsonRows) expect(csvRows.get(id)).toEqual(row)
  })
})
