import { assert, describe, it } from "@effect/vitest"
import { findDuplicateKey } from "./duplicate-keys.ts"

describe("the search for a duplicate key", () => {
  it.each([
    ["in the record", '{"line":2,"fdcId":1,"description":"A","fdcId":2}', "fdcId"],
    ["once with escapes", '{"line":2,"fdcId":1,"fdc\\u0049d":2}', "fdcId"],
    ["after texts with quotes and backslashes", '{"a":"\\"}\\\\","footnote":"\\\\\\"{","footnote":""}', "footnote"],
    ["in an object of a list", '{"foodNutrients":[{"amount":1},{"amount":1,"id":2,"amount":3}]}', "amount"],
    ["in an object of an object", '{"foodNutrients":[{"nutrient":{"id":1,"id":1}}]}', "id"],
    ["around an object", '{"labelNutrients":{"fat":{"value":1},"iron":{"value":1},"fat":null}}', "fat"],
    ["between spaces", '{ "line" : 2 , "footnote" : [ ] , "footnote" : 1 }', "footnote"]
  ])("finds a key that occurs twice: %s", (_, text, key) => assert.strictEqual(findDuplicateKey(text), key))

  it.each([
    ["in different objects", '{"fdcId":1,"foodUpdateLog":[{"fdcId":1},{"fdcId":2}]}'],
    ["as a text value", '{"description":"fdcId","footnote":"fdcId","fdcId":1,"tradeChannels":["fdcId","fdcId"]}'],
    ["in a different case", '{"fdcId":1,"FDCID":2}'],
    [
      "in parts that DuckDB does not read",
      '{"new":1,"new":2,"other":{"fdcId":1,"fdcId":2},"microbes":[{"id":1,"id":2}]}'
    ]
  ])("accepts a key that is repeated %s", (_, text) => assert.isUndefined(findDuplicateKey(text)))

  it("finds a duplicate key after a text of 4 MB", () => {
    const text = `{"ingredients":"${'\\\\\\"'.repeat(1e6)}","footnote":1,"footnote":2}`
    assert.strictEqual(findDuplicateKey(text), "footnote")
  })
})
