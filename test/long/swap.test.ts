/** Ten publications and two rollbacks: half a minute on one machine, a minute over a depot in versitygw. */
import { Redacted } from "effect"
import { describe, it } from "vitest"
import { startFromGo, versitygw } from "../depots/go.ts"
import { swapsUnderLoad } from "../load/swaps.ts"
import { isInstalled } from "../support/tools.ts"

describe("generations that change under load", () => {
  it("fail no request, and each answer comes wholly from the generation that it names", swapsUnderLoad(5, 4))
})

const inVersitygw = async () => {
  const { settings, stop } = await startFromGo(versitygw)
  const environment = {
    LARDER_DEPOT: `s3://${settings.bucket}/larder`,
    LARDER_DEPOT_POLL: "500 millis",
    AWS_ENDPOINT_URL_S3: String(settings.endpoint),
    AWS_REGION: settings.region,
    AWS_ACCESS_KEY_ID: settings.accessKeyId,
    AWS_SECRET_ACCESS_KEY: Redacted.value(settings.secretAccessKey)
  }
  return { environment, stop }
}

describe.skipIf(!isInstalled("go"))("generations that four servers follow over S3 under load, where Go is", () => {
  it(
    "fail no request, and each answer comes wholly from the generation that it names",
    swapsUnderLoad(5, 4, inVersitygw)
  )
})
