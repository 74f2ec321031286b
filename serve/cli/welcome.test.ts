import { assert, describe, it } from "@effect/vitest"
import { formatWelcome } from "./welcome.ts"

const started = {
  apiUrl: "http://127.0.0.1:8080",
  consoleUrl: "http://127.0.0.1:8081",
  isOnAllInterfaces: false,
  generation: "gen_1",
  data_sets: { commodities: true, branded_foods: false },
  payments: "live" as const
}

describe("the text that start prints", () => {
  it("names the setting for links when the console listens on all interfaces", () => {
    assert.notInclude(formatWelcome(started, undefined), "LARDER_CONSOLE_URL")
    assert.include(
      formatWelcome({ ...started, isOnAllInterfaces: true }, undefined),
      "Links point to this machine. To share them, set LARDER_CONSOLE_URL to an address that others can reach."
    )
  })

  it("names the public address of the API, also in the calls to try", () => {
    const demo = { key: "svc_data_x", balance_credits: 5_000, link: undefined }
    const text = formatWelcome({ ...started, apiUrl: "https://api.example.com" }, demo)
    assert.match(text, /^ {2}API {6}https:\/\/api\.example\.com\/v1$/m)
    assert.include(text, '"https://api.example.com/v1/commodities/prices')
    assert.notInclude(text, "127.0.0.1:8080")
  })

  it("states that payments are in test mode or simulated", () => {
    assert.notInclude(formatWelcome(started, undefined), "card payments")
    assert.include(
      formatWelcome({ ...started, payments: "test" }, undefined),
      "card payments run in Stripe's test mode"
    )
    assert.include(formatWelcome({ ...started, payments: "simulated" }, undefined), "card payments are simulated")
  })

  it("shows a call to try with the demo key, or that no demo key was created", () => {
    const demo = { key: "svc_data_x", balance_credits: 5_000, link: undefined }
    assert.include(formatWelcome(started, demo), 'Bearer svc_data_x" "http://127.0.0.1:8080/v1/commodities/prices')
    const textWithoutKey = formatWelcome(started, { ...demo, key: undefined })
    assert.include(textWithoutKey, "No demo key was created: see the log.")
    assert.notInclude(textWithoutKey, "undefined")
    assert.notInclude(textWithoutKey, "Try:")
  })
})
