import { describe, it } from "vitest"
import { swapsUnderLoad } from "./swaps.ts"

describe("generations that change under load", () => {
  it("fail no request, and each response comes completely from the generation that it names", swapsUnderLoad(1, 2))
})
