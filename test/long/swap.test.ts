/** Ten publications and two rollbacks: half a minute. */
import { describe, it } from "vitest"
import { swapsUnderLoad } from "../load/swaps.ts"

describe("generations that change under load", () => {
  it("fail no request, and each answer comes wholly from the generation that it names", swapsUnderLoad(5, 4))
})
