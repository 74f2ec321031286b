import { assert, describe, it } from "@effect/vitest"
import { welcome } from "./welcome.ts"

const started = {
  addresses: { api: "http://127.0.0.1:8080", console: "http://127.0.0.1:8081" },
  consoleUrl: "http://127.0.0.1:8081",
  isForOthersToo: false,
  generation: "gen_1",
  data_sets: { commodities: true, branded_foods: false },
  payments: "live" as const
}

describe("what a start prints", () => {
  it("says which setting gives links for others, where the console listens on every address", () => {
    assert.notInclude(welcome(started, undefined), "LARDER_CONSOLE_URL")
    assert.include(
      welcome({ ...started, isForOthersToo: true }, undefined),
      "Links lead to this machine: set LARDER_CONSOLE_URL to the console's address for others, and they lead there."
    )
  })

  it("says where payments move no money", () => {
    assert.notInclude(welcome(started, undefined), "card payments")
    assert.include(welcome({ ...started, payments: "test" }, undefined), "card payments are tests")
    assert.include(welcome({ ...started, payments: "simulated" }, undefined), "card payments are simulated")
  })

  it("has something to try with the demo key, and says so where there is none", () => {
    const demo = { key: "svc_data_x", balance_credits: 5_000, link: undefined }
    assert.include(welcome(started, demo), 'Bearer svc_data_x" "http://127.0.0.1:8080/v1/commodities/prices')
    const without = welcome(started, { ...demo, key: undefined })
    assert.include(without, "There is no demo key this time: the log says why.")
    assert.notInclude(without, "undefined")
    assert.notInclude(without, "Try:")
  })
})
