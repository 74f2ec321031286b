import { assert, describe, it } from "@effect/vitest"
import { type Provenance, provenancesOf } from "./read-model.ts"
import { aboutSamples, sampleBanner, sampleLine } from "./sample-banner.ts"

const sample: Provenance = { generation: "larder-000001", origin: "sample" }
const ofNone = provenancesOf({})
const live: Provenance = { generation: "larder-000001", origin: "live" }

describe("what is told of samples", () => {
  it("names the data sets that hold samples, and no other", () => {
    const told = (provenances: Partial<typeof ofNone>) => aboutSamples({ ...ofNone, ...provenances }) ?? ""
    assert.match(told({ Storefronts: sample, Commodities: live }), /^most values of storefronts here are generated/)
    assert.match(told({ Storefronts: sample, Commodities: sample }), /^most values of commodities and storefronts here/)
  })
  it("is nothing where all data sets are live or not loaded", () => {
    assert.isUndefined(aboutSamples(ofNone))
    assert.isUndefined(aboutSamples({ ...ofNone, Commodities: live }))
    assert.deepStrictEqual([sampleBanner(undefined), sampleLine(undefined)], [false, ""])
  })
})
