import { describe, expect, it } from "vitest"
import { expectErrorCode } from "../support/api/check-response.ts"
import { sendRaw } from "../support/api/raw.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const authorization = () => `Authorization: Bearer ${api.key().key}`

/** Sends one request as bytes, and returns its only response after checking the common headers. */
const sendRequest = async (requestLine: string, headers: ReadonlyArray<string> = ["Host: localhost"], body = "") => {
  const replies = await sendRaw(api.server().api, requestLine, headers, body)
  expect(replies.length).toBe(1)
  const [reply] = replies
  if (reply === undefined) throw new Error("no response")
  expect(reply.headers).toMatchObject({
    "x-request-id": expect.stringMatching(/^\S+$/),
    "content-type": expect.stringMatching(/^application\/json/),
    "cache-control": "private, no-store",
    "access-control-allow-origin": "*"
  })
  if (reply.status >= 400) expectErrorCode(reply)
  return reply
}

/** Sends one request that reaches the API, with the shared key. */
const callApi = async (requestLine: string, headers: ReadonlyArray<string> = ["Host: localhost"], body = "") => {
  const [method = "", target = ""] = requestLine.split(" ")
  const reply = await sendRequest(requestLine, [authorization(), ...headers], body)
  return api.client().checkAndRecord(method, target.replace(/^http:\/\/[^/]+/, ""), reply)
}

const unreadable = "400 invalid_request: The request is not readable HTTP"
const unclearHost = "400 invalid_request: The request must name one host, such as api.example.com:8080"

describe("HTTP that is not readable", () => {
  it.each([
    ["no method", "/v1/commodities HTTP/1.1"],
    ["a method in lower case", "get /v1/commodities HTTP/1.1"],
    ["an unknown method", "FETCH /v1/commodities HTTP/1.1"],
    ["a relative target", "GET v1/commodities HTTP/1.1"],
    ["an address of another scheme", "GET ftp://localhost/v1/commodities HTTP/1.1"],
    ["another protocol", "GET /v1/commodities HTTPS/1.1"],
    ["no protocol at all", "\u0016\u0003\u0001 hello"],
    ["a header with a space in its name", "GET /v1/commodities HTTP/1.1\r\nBad Header: x"],
    ["a header without a colon", "GET /v1/commodities HTTP/1.1\r\nBadHeader"],
    ["two lengths", "GET /v1/commodities HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"]
  ])("responds with 400 and the usual error body to %s", async (_, requestLine) => {
    expect(formatError(await sendRequest(requestLine))).toBe(unreadable)
  })

  const remedy = {
    space: "The address has a space: percent-encode it as %20",
    text: "The address has characters outside of ASCII: percent-encode them as UTF-8, such as %C3%91 for Ñ",
    control: "The address has a control character: leave it out, or percent-encode it, such as %09 for a tab"
  }
  it.each([
    ["a space in the query", "/v1/commodities?commodity=dry whey", remedy.space],
    ["spaces in the path", "/v1/branded foods/a b", remedy.space],
    ["UTF-8 in the query", "/v1/branded-foods?name=PIÑA", remedy.text],
    ["UTF-8 and a space", "/v1/branded-foods?name=PIÑA COLADA", remedy.text],
    ["UTF-8 in the path", "/v1/branded-foods/käse", remedy.text],
    ["UTF-8 in an absolute URL", "http://localhost/v1/branded-foods?name=\u{1f34d}", remedy.text],
    ["a tab", "/v1/commodities?commodity=dry\twhey", remedy.control],
    ["NUL", "/v1/commodities?commodity=dry\0", remedy.control],
    ["DEL in the path", "/v1/\u007f", remedy.control],
    ["# in the query", "/v1/commodities?commodity=#butter", "The query has a #: percent-encode it as %23"]
  ])("responds with 400 and the remedy to an address that is not percent-encoded: %s", async (_, target, message) => {
    const reply = await sendRequest(`GET ${target} HTTP/1.1`)
    expect([formatError(reply), reply.headers["x-error-code"]]).toEqual([
      `400 invalid_request: ${message}`,
      "unencoded_address"
    ])
  })

  it.each([
    ["no host", "GET /v1/commodities HTTP/1.1", []],
    ["two hosts", "GET /v1/commodities HTTP/1.1", ["Host: localhost", "Host: localhost"]],
    ["a host that cannot be parsed", "GET /v1/commodities HTTP/1.1", ["Host: a b"]],
    ["an empty host", "GET /v1/commodities HTTP/1.1", ["Host:"]],
    ["an address whose host cannot be parsed", "GET http://user@localhost/v1/commodities HTTP/1.1", ["Host: localhost"]]
  ])("responds with 400 and the usual error body, free of charge, to %s", async (_, requestLine, hosts) => {
    expect(formatError(await sendRequest(requestLine, [authorization(), ...hosts]))).toBe(unclearHost)
  })

  it.each([
    ["garbage", "what is this", 400],
    ["a header of 17 kB", `GET /v1/commodities HTTP/1.1\r\nX-Big: ${"x".repeat(17_000)}`, 431],
    ["CONNECT", "CONNECT localhost:80 HTTP/1.1", 405],
    ["a second host", "GET /v1/commodities HTTP/1.1\r\nHost: localhost", 400]
  ])("handles and charges the requests before it, and then %s", async (_, broken, status) => {
    const target = "/v1/commodities?commodity=butter"
    const valid = `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${authorization()}\r\n\r\n`
    const replies = await sendRaw(api.server().api, valid + valid + broken)
    for (const reply of replies.slice(0, 2)) api.client().checkAndRecord("GET", target, reply)
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, status])
    expect(replies[2]?.headers).toMatchObject({ connection: "close", "x-request-id": expect.stringMatching(/^req_/) })
  })

  it("responds with 431 and the usual error body to headers above 16 KiB", async () => {
    const big = ["Host: localhost", `X-Big: ${"x".repeat(17_000)}`]
    expect(formatError(await sendRequest("GET /v1/commodities HTTP/1.1", big))).toMatch(/^431 invalid_request: /)
    const query = `/v1/commodities?commodity=${"x".repeat(20_000)}`
    expect(formatError(await sendRequest(`GET ${query} HTTP/1.1`, ["Host: localhost", authorization()]))).toMatch(
      /^431 invalid_request: /
    )
  })

  it("responds with 405 and Allow to CONNECT", async () => {
    const reply = await sendRequest("CONNECT localhost:80 HTTP/1.1")
    expect([formatError(reply), reply.headers.allow]).toEqual([
      "405 invalid_request: Only GET is served here",
      "GET, OPTIONS"
    ])
  })
})

describe("HTTP that is unusual but readable", () => {
  it("handles a request with a target of 12 kB", async () => {
    const { status, text } = await callApi(`GET /v1/commodities?commodity=${"x".repeat(12_000)} HTTP/1.1`)
    expect([status, text]).toEqual([200, '{"data":[]}'])
  })

  it("accepts an absolute URL as target, and uses its host instead of the header's", async () => {
    expect(formatError(await callApi("GET http://localhost/v1/commodities?limit=0 HTTP/1.1"))).toMatch(/^400 .*limit/)
    const { json } = await callApi("GET http://data.larder.test/v1/commodities HTTP/1.1")
    expect(json).toHaveProperty("next_cursor")
    const other = await callApi("GET http://localhost/v1/commodities HTTP/1.1", ["Host: data.larder.test"])
    expect(other.json).not.toHaveProperty("next_cursor")
  })

  it("accepts HTTP/1.0 without Host", async () => {
    expect((await callApi("GET /v1/commodities?commodity=butter HTTP/1.0", [])).status).toBe(200)
  })

  it("ignores the body of a GET", async () => {
    const reply = await callApi(
      "GET /v1/commodities?commodity=butter HTTP/1.1",
      ["Host: localhost", "Content-Type: application/json", "Content-Length: 18"],
      '{"commodity":"x"}\n'
    )
    expect(reply.text).toBe((await api.get("/v1/commodities?commodity=butter")).text)
  })

  it("handles pipelined requests in order", async () => {
    const first = `GET /v1/commodities?commodity=butter HTTP/1.1\r\nHost: localhost\r\n${authorization()}\r\n\r\n`
    const replies = await sendRaw(api.server().api, `${first}${first}GET /v1/commodities?limit=0 HTTP/1.1`, [
      "Host: localhost",
      authorization()
    ])
    const targets = ["/v1/commodities?commodity=butter", "/v1/commodities?commodity=butter", "/v1/commodities?limit=0"]
    for (const [index, reply] of replies.entries()) api.client().checkAndRecord("GET", targets[index] ?? "", reply)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400])
  })

  it("ignores an Expect header with any value, and an upgrade to another protocol", async () => {
    for (const headers of [
      ["Expect: 100-continue"],
      ["Expect: the-spanish-inquisition"],
      ["Upgrade: websocket"],
      ["Upgrade: h2c"]
    ]) {
      const connection = headers[0]?.startsWith("Upgrade") ? ["Connection: Upgrade"] : []
      const reply = await callApi("GET /v1/commodities?limit=0 HTTP/1.1", [
        "Host: localhost",
        ...headers,
        ...connection
      ])
      expect(formatError(reply)).toMatch(/^400 .*limit/)
    }
  })

  it("responds with 404 to an asterisk as the path", async () => {
    for (const method of ["GET", "OPTIONS"]) {
      expect(formatError(await callApi(`${method} * HTTP/1.1`))).toBe("404 not_found: No such endpoint")
    }
  })

  it("accepts 200 headers, and spaces around the key", async () => {
    const many = Array.from({ length: 200 }, (_, n) => `X-Header-${n}: ${n}`)
    const { key } = api.key()
    const padded = ["Host: localhost", `authorization:   Bearer   ${key}   `, ...many]
    const reply = await sendRequest("GET /v1/commodities HTTP/1.1", padded)
    expect(api.client().checkAndRecord("GET", "/v1/commodities", reply).status).toBe(200)
  })

  it.each(['"', "<>", "{|}", "\\", "^`", "[]", "'()"])("reads %s in a query as text", async (text) => {
    const { status, text: body } = await callApi(`GET /v1/commodities?commodity=${text} HTTP/1.1`)
    expect([status, body]).toEqual([200, '{"data":[]}'])
  })

  it("reads broken percent-encoding in a query as text", async () => {
    for (const query of [
      "commodity=%zz",
      "commodity=%",
      "commodity=%C3%28",
      "commodity=butter%00",
      "commodity=a+b%2Bc"
    ]) {
      const { status, text } = await callApi(`GET /v1/commodities?${query} HTTP/1.1`)
      expect([query, status, text]).toEqual([query, 200, '{"data":[]}'])
    }
    expect(formatError(await callApi("GET /v1/commodities?%zz=1 HTTP/1.1"))).toBe(
      "400 invalid_request: Unknown query parameter: %zz. Did you mean limit?"
    )
  })
})
