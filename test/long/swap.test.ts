/** Ten publications and two rollbacks: half a minute on one machine, a minute with a depot in versitygw. */
import { describe, it } from "vitest"
import { startFromGo, versitygw } from "../depots/go.ts"
import { swapsUnderLoad } from "../load/swaps.ts"
import { environmentOf } from "../support/depots/shared-depot.ts"
import { isInstalled } from "../support/tools.ts"

describe("generations that change under load", () => {
  it("fail no request, and each response comes completely from the generation that it names", swapsUnderLoad(5, 4))
})

const inVersitygw = async () => {
  const { settings, stop } = await startFromGo(versitygw)
  return { environment: environmentOf({ ...settings, prefix: "larder" }, "500 millis"), stop }
}

describe.skipIf(!isInstalled("go"))(
  "generations that four servers follow over S3 under load, if Go is installed",
  () => {
    it(
      "fail no request, and each response comes completely from the generation that it names",
      swapsUnderLoad(5, 4, inVersitygw)
    )
  }
)
