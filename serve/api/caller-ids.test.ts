import { assert, describe, it } from "@effect/vitest"
import { readCallerIds } from "./caller-ids.ts"

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

describe("the ids of a caller", () => {
  it("are its X-Request-Id and its traceparent", () => {
    assert.deepStrictEqual(readCallerIds(new Headers({ "x-request-id": "a-B_9.x", traceparent })), {
      caller_request_id: "a-B_9.x",
      traceparent
    })
    assert.deepStrictEqual(readCallerIds(new Headers()), {})
  })
  it.each([
    ["more than 64 characters, such as a key", `svc_data_${"a".repeat(64)}`],
    ["spaces", "an id"],
    ["quotes", 'a"b'],
    ["letters beyond ASCII", "é"],
    ["nothing", ""]
  ])("are ignored with %s", (_, id) => {
    assert.deepStrictEqual(readCallerIds(new Headers({ "x-request-id": id, traceparent: id })), {})
  })
})
