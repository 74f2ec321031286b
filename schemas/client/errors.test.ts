import { assert, describe, it } from "@effect/vitest"
import { errorTypes } from "../error-types.ts"
import type { CallCost } from "./cost.ts"
import { LarderError, makeError } from "./errors.ts"

const makeCost = (status: number): CallCost => ({
  status,
  requestId: "req_1",
  creditsCharged: 0,
  creditsRemaining: 4990,
  dataVersion: "larder-000001",
  dataOrigin: "live",
  errorCode: "unknown_store",
  attempts: 1
})
const makeFailure = (json: unknown, status: number) => makeError(json, JSON.stringify(json), makeCost(status))

describe("the error of a response", () => {
  it.each(errorTypes)("has its own class for type $type, with code, status, id and message", ({ status, type }) => {
    const error = makeFailure({ error: { type, message: "What happened" } }, status)
    assert.isTrue(error instanceof LarderError)
    assert.deepStrictEqual(
      [error.type, error.code, error.name.toLowerCase(), error.status, error.requestId, error.message],
      [type, "unknown_store", type.replace("_", ""), status, "req_1", "What happened"]
    )
  })
  it.each([
    [{ error: { type: "teapot", message: "Short and stout" } }],
    [{ error: { type: "toString", message: "" } }],
    [{ error: "bad gateway" }],
    [null]
  ])("has the type unknown_answer if the body is not the API's: %j", (json) => {
    const error = makeFailure(json, 502)
    assert.strictEqual(error.type, "unknown_answer")
    assert.match(error.message, /status 502/)
  })
  it("quotes the beginning of a proxy's page", () => {
    const page = `<html><h1>502 Bad Gateway</h1>${"x".repeat(5000)}`
    const { message } = makeError(undefined, page, makeCost(502))
    assert.include(message, "<h1>502 Bad Gateway</h1>")
    assert.isBelow(message.length, 400)
    assert.include(makeError(undefined, " \n", makeCost(502)).message, "(empty)")
  })
})
