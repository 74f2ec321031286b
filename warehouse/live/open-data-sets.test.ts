import { assert, describe, it } from "@effect/vitest"
import type { DataSetEntry } from "../generation/manifest.ts"
import { compareDataSets, listChanged } from "./open-data-sets.ts"

const entry = (changed_in: number, ...hashes: ReadonlyArray<string>): DataSetEntry => ({
  schema: 1,
  definition: "",
  mapping: 1,
  published_in: 1,
  changed_in,
  built_on: null,
  origins: [],
  newest_on: null,
  undone: [],
  parts: hashes.map((sha256) => ({ name: "example.duckdb", sha256, bytes: 1 }))
})

describe("data sets of a new generation", () => {
  const before = new Map([["example", { entry: entry(1, "a", "b"), open: 1 }]])
  const isOpen = (...hashes: ReadonlyArray<string>) =>
    compareDataSets({ example: entry(2, ...hashes) }, ["example"], before).map((compared) => compared.isOpen)

  it("stay open if they have the same parts in the same order, even in another generation", () => {
    assert.deepStrictEqual([isOpen("a", "b"), isOpen("b", "a"), isOpen("a"), isOpen("a", "c")].flat(), [
      true,
      false,
      false,
      false
    ])
  })
  it("are left out if they are not loaded, or unknown to the server", () => {
    assert.deepStrictEqual(isOpen(), [])
    assert.deepStrictEqual(compareDataSets({ cellar: entry(2, "a") }, ["example"], before), [])
  })
  it("have changed if one was opened, replaced or closed", () => {
    const changes = (after: ReadonlyArray<readonly [string, { readonly open: number }]>) =>
      listChanged(new Map([["example", { open: 1 }]]), new Map(after))
    assert.deepStrictEqual(changes([["example", { open: 1 }]]), [])
    assert.deepStrictEqual(changes([["example", { open: 2 }]]), ["example"])
    assert.deepStrictEqual(changes([]), ["example"])
    assert.deepStrictEqual(
      changes([
        ["example", { open: 1 }],
        ["cellar", { open: 2 }]
      ]),
      ["cellar"]
    )
  })
})
