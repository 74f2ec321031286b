import { assert, describe, it } from "@effect/vitest"
import { barrels, feedNamed } from "@larder/test/support/pipelines/commodity-payloads.ts"
import { Redacted } from "effect"
import { catalog } from "../catalog.ts"
import { feedRequests, widenWindow } from "./requests.ts"

const { feeds } = catalog()

const key = Redacted.make("secret-key")
const september = { from: "2026-09-01", to: "2026-09-30" }

describe("the address of a feed", () => {
  it("keeps spaces and commas of a section percent-encoded", () => {
    const section = "500%20Pound%20Barrel%20Cheddar%20Cheese%20Prices%2C%20Sales%2C%20and%20Moisture%20Content"
    assert.deepStrictEqual(feedRequests(barrels, undefined, key), [
      {
        url: `https://mpr.datamart.ams.usda.gov/services/v1.1/reports/2993/${section}`,
        slow: true,
        accept: "application/json"
      }
    ])
  })

  it("is slow only for a whole history", () => {
    const [request] = feedRequests(feedNamed("gov-mars/1603"), september, undefined)
    assert.notProperty(request, "slow")
  })

  it("selects a window by the report's own field, with American dates", () => {
    const [request] = feedRequests(feedNamed("gov-mars/1603"), september, undefined)
    assert.isDefined(request)
    assert.strictEqual(
      request.url,
      "https://marsapi.ams.usda.gov/services/v1.2/reports/1603?q=report_begin_date%3D09%2F01%2F2026%3A09%2F30%2F2026"
    )
    assert.strictEqual(new URL(request.url).searchParams.get("q"), "report_begin_date=09/01/2026:09/30/2026")
    const [sections] = feedRequests(feedNamed("gov-mars/1623"), september, undefined)
    assert.strictEqual(new URL(sections?.url ?? "").search.split("&")[0], "?allSections=true")
  })

  it("sends the key to My Market News only, and never in the address", () => {
    for (const feed of feeds) {
      for (const request of feedRequests(feed, september, key)) {
        assert.notInclude(request.url, "secret-key")
        assert.strictEqual(request.basicUser, feed.source === "gov-mars" ? key : undefined)
        assert.strictEqual(request.keyVariable, feed.source === "gov-mars" ? "MARS_API_KEY" : undefined)
      }
    }
  })

  it("names the variable of the key when no key is set", () => {
    const [request] = feedRequests(feedNamed("gov-mars/1603"), undefined, undefined)
    assert.strictEqual(request?.keyVariable, "MARS_API_KEY")
    assert.isFalse(request !== undefined && "basicUser" in request)
  })
})

describe("the window around the requested days", () => {
  it.each([
    ["gov-mars/1602", "2026-08-26", "2026-10-06", "weeks begin before they end"],
    ["gov-mars/1623", "2025-08-31", "2027-10-01", "a year-to-date report begins on 1 January"],
    ["gov-mpr/2991/Detail", "2026-07-18", "2026-11-14", "the last survey week of a month may end in the next one"],
    ["gov-mpr/2989/Detail", "2026-08-01", "2026-10-31", "Class I is announced before its month"],
    ["gov-mpr/2993/Final Butter Prices and Sales", "2026-09-01", "2026-09-30", "a final week is printed once"]
  ])("extends for %s from %s to %s, because %s", (feed, from, to) => {
    assert.deepStrictEqual(widenWindow(september, feedNamed(feed)), { from, to })
  })

  it("stays within years of four digits", () => {
    const ends = { from: "0001-01-01", to: "9999-12-31" }
    assert.deepStrictEqual(widenWindow(ends, feedNamed("gov-mars/1623")), ends)
  })
})
