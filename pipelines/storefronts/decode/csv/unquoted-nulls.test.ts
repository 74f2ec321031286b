import { assert, describe, it } from "@effect/vitest"
import { removeUnquotedNulls } from "./unquoted-nulls.ts"

describe("NA and NULL without quotes in a CSV record", () => {
  it.each([
    ["are no value if the other texts are quoted", '"1","Tea",NA,4.50,NULL', ["1", "Tea", "", "4.50", ""]],
    ["are texts with quotes", '"1","NA",4.50', ["1", "NA", "4.50"]],
    ["are texts if another text has no quotes", '1,Tea,NA,"black, loose"', ["1", "Tea", "NA", "black, loose"]],
    ["are texts if there is no other text", "1,NA,4.50", ["1", "NA", "4.50"]],
    ["are found behind doubled quotes and separators", '"1","a ""b"", c",NA\r\n', ["1", 'a "b", c', ""]]
  ])("%s: %s", (_, raw, expected) => {
    const cells = expected.map((cell, index) =>
      cell === ""
        ? (raw
            .trim()
            .split(",")
            .at(index - expected.length) ?? "")
        : cell
    )
    assert.deepStrictEqual(removeUnquotedNulls(cells, raw, ","), expected)
  })
})
