import { assert, describe, it } from "@effect/vitest"
import { placeOfFault } from "./json-fault.ts"

describe("the place where a text stops being JSON", () => {
  it.each([
    ['[\n  { "domain": }\n]', "line 2 column 15"],
    ['[{ "a": 1, }]', "line 1 column 12"],
    ['[{ "a": tru }]', "line 1 column 12"],
    ["[1, 2", "line 1 column 6"],
    ['[\n"cut', "line 2 column 5"],
    ["[-]", "line 1 column 3"],
    ["no list", "line 1 column 2"],
    ["[] []", "line 1 column 4"],
    ["", "line 1 column 1"]
  ])("of %j is %s", (text, place) => {
    assert.strictEqual(placeOfFault(text), place)
  })
})
