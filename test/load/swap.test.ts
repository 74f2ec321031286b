import { describe, it } from "vitest"
import { swapsUnderLoad } from "./swaps.ts"

describe("generations that change under load", () => {
  it("make no request fail, and each response comes entirely from the generation that it names", swapsUnderLoad(1, 2))
})
