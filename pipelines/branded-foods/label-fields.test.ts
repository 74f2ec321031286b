import { assert, describe, it } from "@effect/vitest"
import { labelFileColumns, members } from "./decode/csv/members.ts"
import { foodShape } from "./decode/json/keys.ts"
import { codedColumns, fieldOfCsv, fields, optionalJsonPaths } from "./label-fields.ts"

describe("the fields of a label", () => {
  it("have a role for every column of the CSV form that is read, and no other", () => {
    const read = Object.entries(labelFileColumns).flatMap(([file, columns]) =>
      Object.values(columns).map(({ header }) => `${file}.${header}`)
    )
    const known = fields.flatMap(([, { csv }]) => csv ?? [])
    assert.deepStrictEqual(known.toSorted(), read.toSorted())
    assert.throws(() => fieldOfCsv("food", "colour"), "food.colour has no role")
  })
  it("have a role for every key of the JSON form that is read", () => {
    const known = new Set(fields.flatMap(([, { json }]) => json?.split(".")[0] ?? []))
    assert.deepStrictEqual([...known].toSorted(), Object.keys(foodShape).toSorted())
  })
  it("need a column in a file only if it is a key or of the substance", () => {
    assert.deepStrictEqual(
      Object.values(members)
        .slice(0, 4)
        .map(({ neededColumns }) => neededColumns),
      [
        ["fdc_id", "description", "publication_date"],
        ["fdc_id", "gtin_upc", "ingredients", "serving_size", "serving_size_unit", "data_source"],
        ["fdc_id", "nutrient_id", "amount"],
        ["fdc_id"]
      ]
    )
  })
  it("may lack names and texts of another shape in JSON, but no amounts", () => {
    const paths = ["brandOwner", "tradeChannels", "foodAttributes", "foodNutrients.id", "foodNutrients", "ingredients"]
    assert.deepStrictEqual(
      paths.map((path) => optionalJsonPaths.has(path)),
      [true, true, true, true, false, false]
    )
  })
  it("keep placeholders in names and texts, and in nothing else", () => {
    const kept = ["brand_owner", "description", "ingredients", "market_country", "footnote"]
    assert.deepStrictEqual(
      kept.filter((column) => codedColumns.includes(column)),
      []
    )
    assert.includeMembers([...codedColumns], ["upc", "serving_size_unit", "category", "package_weight", "data_source"])
  })
})
