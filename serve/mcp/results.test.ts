import { assert, describe, it } from "@effect/vitest"
import { insufficientBalance, internal, overloaded, unknownRecord } from "@larder/schemas"
import { errorHeaders } from "../api/index.ts"
import { errorBody } from "../api/response.ts"
import { makeBodies, makeResult } from "./results.ts"

const listTexts = ({ content }: ReturnType<typeof makeResult>) =>
  content.map((item) => (item.type === "text" ? item.text : ""))

describe("a response as the result of a tool", () => {
  it.each([
    [internal, "Nothing was charged. Try again, with exponential back-off."],
    [overloaded, "Nothing was charged. Try again, with exponential back-off."],
    [insufficientBalance, "tell the user. Repeated calls also fail."],
    [unknownRecord("store", "x"), "Nothing was charged. The same call would fail again."]
  ])("advises what to do about $type", (error, advice) => {
    const body = errorBody(error)
    const result = makeResult({
      status: error.status,
      body,
      headers: { "x-request-id": "req_1", ...errorHeaders(error.code, undefined) }
    })
    const [text, second] = listTexts(result)
    assert.isTrue(result.isError)
    assert.strictEqual(text, body)
    assert.include(second, advice)
    assert.deepStrictEqual(result.structuredContent, JSON.parse(body))
    assert.deepStrictEqual(result._meta, {
      "larder/status": error.status,
      "larder/request_id": "req_1",
      "larder/error_code": error.code
    })
  })
  it("states its cost, and keeps the text of the body", () => {
    const headers = {
      "x-request-id": "req_1",
      "x-credits-charged": "10",
      "x-credits-remaining": "90",
      "x-data-version": "v"
    }
    const result = makeResult({ status: 200, body: '{"data":[1.6140]}', headers })
    assert.deepStrictEqual(listTexts(result), [
      '{"data":[1.6140]}',
      "Charged 10 credits (0.01 USD); the key can still spend 90 (0.09 USD)."
    ])
    assert.notProperty(result, "isError")
    assert.strictEqual(result._meta?.["larder/credits_remaining"], 90)
  })
  it("marks sample data as such, but not errors about it", () => {
    const headers = { "x-request-id": "req_1", "x-data-origin": "sample" }
    const [, , notice] = listTexts(makeResult({ status: 200, body: '{"data":[1.6140]}', headers }))
    assert.match(notice ?? "", /^Sample data: most of these values are generated/)
    const error = unknownRecord("store", "x")
    assert.lengthOf(listTexts(makeResult({ status: error.status, body: errorBody(error), headers })), 2)
  })
})

it("puts each body into the text as a string and as a value, with its digits as published", () => {
  const { insert, replace } = makeBodies()
  const first = '{"value":1.6140,"text":"a \\"quoted\\" $& word"}'
  const makeResponse = (body: string) => ({ status: 200, headers: {}, body })
  const replaced = [makeResponse(first), makeResponse("{}")].map((response) => replace(response).body)
  const text = JSON.stringify(replaced.map((body) => ({ text: body, structuredContent: JSON.parse(body) })))
  assert.strictEqual(
    insert(text),
    `[{"text":${JSON.stringify(first)},"structuredContent":${first}},{"text":"{}","structuredContent":{}}]`
  )
})
