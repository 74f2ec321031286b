import { assert, describe, it } from "@effect/vitest"
import { describeRange, describeRatios, describeRounds, takeTurns } from "./turns.ts"

describe("measurements in turns", () => {
  it("measure all subjects in each round, each round in another order", async () => {
    const orders: Array<string> = []
    const measure = (name: string) => async (round: number) => {
      orders[round] = (orders[round] ?? "") + name
      return round
    }
    const measured = await takeTurns(6, { a: measure("a"), b: measure("b"), c: measure("c") })
    assert.deepStrictEqual(orders, ["abc", "cba", "bca", "acb", "cab", "bac"])
    assert.deepStrictEqual(measured, { a: [0, 1, 2, 3, 4, 5], b: [0, 1, 2, 3, 4, 5], c: [0, 1, 2, 3, 4, 5] })
  })

  it("are medians with their range, and compared within their round", () => {
    const rounds = [10, 1, 40].map((seconds) => ({ seconds, failed: 0 }))
    const bases = [20, 4, 10].map((seconds) => ({ seconds, failed: 0 }))
    assert.deepStrictEqual(describeRounds(rounds), { seconds: "10 (1 to 40)", failed: "0" })
    assert.deepStrictEqual(describeRatios(rounds, bases), { seconds: "0.5 (0.25 to 4)", failed: undefined })
    assert.strictEqual(describeRange([1234.567, 1234.5678]), "1,234.57")
  })
})
