import { assert, describe, it } from "@effect/vitest"
import { type Provenance, toProvenances } from "./read-model.ts"
import { describeSamples, formatSampleLine, renderSampleBanner } from "./sample-banner.ts"

const sample: Provenance = { generation: "larder-000001", origin: "sample" }
const nothingLoaded = toProvenances({})
const live: Provenance = { generation: "larder-000001", origin: "live" }

describe("the notice about samples", () => {
  it("names exactly the data sets that contain samples", () => {
    const notice = (provenances: Partial<typeof nothingLoaded>) =>
      describeSamples({ ...nothingLoaded, ...provenances }) ?? ""
    assert.match(notice({ Storefronts: sample, Commodities: live }), /^most values of storefronts here are generated/)
    assert.match(
      notice({ Storefronts: sample, Commodities: sample }),
      /^most values of commodities and storefronts here/
    )
  })
  it("is absent if all data sets are live or not loaded", () => {
    assert.isUndefined(describeSamples(nothingLoaded))
    assert.isUndefined(describeSamples({ ...nothingLoaded, Commodities: live }))
    assert.deepStrictEqual([renderSampleBanner(undefined), formatSampleLine(undefined)], [false, ""])
  })
})
