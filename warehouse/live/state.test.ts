import { assert, describe, it } from "@effect/vitest"
import { afterListing, afterServing, describeFaults, isToBeServed, unreadable } from "./state.ts"

const generation = (number: number, isComplete = true) => ({ number, records: { isComplete } })
const fault = { pipeline: "example", changed_in: 2, served: 1, otherVersion: undefined, cause: undefined }

describe("the newest generation of a listing", () => {
  it("is served until all of it is: its data sets and its records", () => {
    const first = afterServing(generation(1), [])
    assert.isFalse(isToBeServed(first, undefined))
    assert.isFalse(isToBeServed(first, 1))
    assert.isTrue(isToBeServed(first, 2))
    assert.isTrue(isToBeServed(afterServing(generation(2), [fault], first), 2))
    assert.isTrue(isToBeServed(afterServing(generation(2, false), [], first), 2))
    assert.isFalse(isToBeServed(afterServing(generation(2), [], first), 2))
  })
  it("is also served if it is older, because a newer one was removed", () => {
    assert.isTrue(isToBeServed(afterServing(generation(2), []), 1))
  })
})

describe("the state of a server", () => {
  const first = afterServing(generation(1), [])
  it("counts only swaps that exchanged a data set", () => {
    const second = afterServing(generation(2), [], first)
    assert.deepStrictEqual([first.swaps, second.swaps], [0, 0])
    assert.strictEqual(afterServing(generation(3), [], second, ["example", "cellar"]).swaps, 1)
  })
  it("names each fault, and none once all is served", () => {
    const faulty = { ...afterServing(generation(2), [fault], first), isUnreadable: true }
    assert.strictEqual(describeFaults(faulty), `${unreadable}; example of larder-000002 cannot be served`)
    assert.isUndefined(describeFaults(afterServing(generation(2), [], faulty)))
  })
  it("has no unreadable generation once that was removed", () => {
    const faulty = { ...first, isUnreadable: true }
    assert.isTrue(afterListing(faulty, 2).isUnreadable)
    assert.isFalse(afterListing(faulty, 1).isUnreadable)
  })
})
