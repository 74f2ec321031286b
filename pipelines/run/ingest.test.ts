import { assert, describe, it } from "@effect/vitest"
import { worstExitCode } from "./ingest.ts"

describe("the exit code of several pipelines", () => {
  it.each([
    [[0, 0, 0], 0],
    [[0, 4, 0], 4],
    [[4, 2, 0], 2],
    [[2, 1, 4], 1],
    [[1, 3, 2], 3],
    [[4, 3, 0], 3]
  ])("of %j is %i", (codes, worst) => {
    assert.strictEqual(worstExitCode(codes), worst)
  })
})
