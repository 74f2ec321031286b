import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { intersect, sortUnique } from "./lists.ts"

const documents = 5000
const anyDocuments = (maxLength: number) => fc.array(fc.nat(documents - 1), { maxLength })
const toSortedUnique = (docs: ReadonlyArray<number>) => [...new Set(docs)].sort((a, b) => a - b)

describe("lists of documents", () => {
  it("are sorted and without duplicates, whether they are short or long", () => {
    fc.assert(
      fc.property(fc.oneof(anyDocuments(18), anyDocuments(400)), (docs) => {
        assert.deepStrictEqual([...sortUnique(Uint32Array.from(docs), documents)], toSortedUnique(docs))
      })
    )
    const duplicated = Uint32Array.from({ length: 2 * documents }, (_, i) => (documents * 2 - 1 - i) >>> 1)
    assert.deepStrictEqual([...sortUnique(duplicated, documents)], [...Array(documents).keys()])
  })
  it("are intersected", () => {
    fc.assert(
      fc.property(anyDocuments(300), anyDocuments(300), (a, b) => {
        const both = intersect(Uint32Array.from(toSortedUnique(a)), Uint32Array.from(toSortedUnique(b)))
        assert.deepStrictEqual(
          [...both],
          toSortedUnique(a).filter((doc) => b.includes(doc))
        )
      })
    )
  })
})
