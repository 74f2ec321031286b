import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { setImmediate as nextIteration } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import { H3 } from "h3"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { listen } from "./listen.ts"

/** `gate` releases the slow responses; `reached` resolves when a request waits for one. */
let gate = Promise.withResolvers<void>()
let reached = Promise.withResolvers<void>()
let handledNames: Array<string> = []

const app = new H3({ silent: true })
  .get("/", () => "quick")
  .get("/slow", async () => {
    reached.resolve()
    await gate.promise
    return "slow"
  })
  .get("/long", async () => {
    reached.resolve()
    await gate.promise
    return new Response(ReadableStream.from(Array.from({ length: 8 }, () => Buffer.alloc(65_536, "x"))))
  })
  .get("/noted/:name", (event) => {
    handledNames.push(event.context.params?.name ?? "")
    return "noted"
  })
  .post("/body", async (event) => `read ${await event.req.text()}`)
  .post("/unread", () => "quick")

const startServer = async () => {
  const scope = Scope.makeUnsafe()
  const options = { name: "server", host: "127.0.0.1", port: 0, setting: "LARDER_PORT" }
  const url = new URL(await Effect.runPromise(Scope.provide(listen(app, options), scope)))
  return { url, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

let server: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const get = (target: string, ...headers: ReadonlyArray<string>) =>
  [`GET ${target} HTTP/1.1`, "host: larder", ...headers, "", ""].join("\r\n")
const post = (target: string) => `POST ${target} HTTP/1.1\r\nhost: larder\r\ntransfer-encoding: chunked\r\n\r\n`

/** A client that never closes the connection by itself, and the text it has received so far. */
const connectTo = (url: URL) => {
  gate = Promise.withResolvers()
  reached = Promise.withResolvers()
  handledNames = []
  const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true })
  let text = ""
  socket.on("data", (piece) => {
    text += piece.toString("latin1")
  })
  socket.on("error", () => undefined)
  return { socket, text: () => text }
}

/** Status and body of each response; a long body by its length. */
const parseResponses = (text: string) =>
  text
    .split(/(?=HTTP\/1\.1 )/)
    .filter((response) => response !== "")
    .map((response) => {
      const body = response.slice(response.indexOf("\r\n\r\n") + 4)
      return `${response.slice(9, 12)} ${body.length > 1_000 ? `${[...body.matchAll(/x/g)].length} bytes` : body}`
    })

const error = (message: string) => JSON.stringify({ error: { type: "invalid_request", message } })
const unreadable = `400 ${error("The request is not readable HTTP")}`
const unclearHost = `400 ${error("The request must name one host, such as api.example.com:8080")}`

/** Sends all bytes at once, releases the slow responses once the server has read them, and reads until it closes. */
const exchange = async (
  bytes: string,
  behaviour: "keeps its side open" | "closes its side" = "keeps its side open"
) => {
  const { socket, text } = connectTo(server.url)
  if (behaviour === "closes its side") socket.end(bytes)
  else socket.write(bytes)
  await reached.promise
  await nextIteration()
  await nextIteration()
  expect(text()).not.toContain("400")
  gate.resolve()
  await once(socket, "end")
  socket.destroy()
  return parseResponses(text())
}

describe("a request that is not readable HTTP, sent right after readable ones", () => {
  const garbage = "what is this\r\n\r\n"
  const brokenRequests: ReadonlyArray<readonly [string, string, string]> = [
    ["garbage", garbage, unreadable],
    [
      "headers of 17 kB",
      get("/", `x: ${"x".repeat(17_000)}`),
      `431 ${error("Request line and headers take at most 16 KiB")}`
    ],
    ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nhost: a\r\n\r\n", `405 ${error("Only GET is served here")}`],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", unreadable]
  ]

  describe.each(["keeps its side open", "closes its side"] as const)("from a client that %s", (behaviour) => {
    it.each(brokenRequests)("is refused after their responses: %s", async (_what, bytes, refusal) => {
      expect(await exchange(`${get("/")}${get("/slow")}${get("/")}${bytes}`, behaviour)).toEqual([
        "200 quick",
        "200 slow",
        "200 quick",
        refusal
      ])
    })

    it.each(brokenRequests)("is refused after a long response: %s", async (_what, bytes, refusal) => {
      expect(await exchange(`${get("/long")}${bytes}`, behaviour)).toEqual(["200 524288 bytes", refusal])
    })
  })

  it("is refused once, even if more input follows", async () => {
    const { socket, text } = connectTo(server.url)
    socket.write(`${get("/slow")}${garbage}`)
    await reached.promise
    for (const _ of [1, 2, 3]) {
      socket.write(garbage)
      await nextIteration()
    }
    gate.resolve()
    await once(socket, "end")
    socket.destroy()
    expect(parseResponses(text())).toEqual(["200 slow", unreadable])
  })

  it("is refused if it is incomplete", async () => {
    expect(await exchange(`${get("/slow")}GET / HT`, "closes its side")).toEqual(["200 slow", unreadable])
  })

  it("gets no response after a request with `Connection: close`", async () => {
    expect(await exchange(`${get("/slow", "connection: close")}${get("/noted/never")}`)).toEqual(["200 slow"])
    expect(handledNames).toEqual([])
  })

  it("does not include an upgrade, which is handled like any other request", async () => {
    expect(await exchange(`${get("/slow")}${get("/", "connection: upgrade, close", "upgrade: websocket")}`)).toEqual([
      "200 slow",
      "200 quick"
    ])
  })

  it.each(brokenRequests)("affects no other client if its client resets the connection: %s", async (_what, bytes) => {
    const { socket } = connectTo(server.url)
    socket.write(`${get("/long")}${get("/slow")}${bytes}`)
    await reached.promise
    socket.resetAndDestroy()
    await nextIteration()
    gate.resolve()
    expect(await (await fetch(server.url)).text()).toBe("quick")
  })
})

describe("the refusal of a request that reaches no handler", () => {
  it.each([
    ["headers_too_large", `x-big: ${"x".repeat(17_000)}`],
    ["unclear_host", "host: another"]
  ])("lets scripts of other origins read the code %s", async (code, header) => {
    const { socket, text } = connectTo(server.url)
    socket.end(get("/", header))
    await once(socket, "end")
    expect(text()).toContain(`\r\nx-error-code: ${code}\r\n`)
    expect(text()).toMatch(/\r\naccess-control-expose-headers: .*\bX-Error-Code\b/)
  })
})

describe("a request with a body that is not readable HTTP", () => {
  const noChunk = "no chunk\r\n"

  it("is refused after earlier responses if the handler waits for the body", async () => {
    expect(await exchange(`${get("/slow")}${post("/body")}${noChunk}`)).toEqual(["200 slow", unreadable])
  })

  it("gets one response if the handler does not read the body", async () => {
    expect(await exchange(`${get("/slow", "transfer-encoding: chunked")}${noChunk}`)).toEqual(["200 slow"])
  })

  it("is not refused after its response", async () => {
    const { socket, text } = connectTo(server.url)
    socket.write(post("/unread"))
    await once(socket, "data")
    socket.write(noChunk)
    await once(socket, "end")
    socket.destroy()
    expect(parseResponses(text())).toEqual(["200 quick"])
  })
})

describe("a request for an invalid host", () => {
  const requests: ReadonlyArray<readonly [string, string]> = [
    ["two hosts", get("/noted/a", "host: larder")],
    [
      "a second host after a thousand headers",
      get("/noted/a", ...Array.from({ length: 1_100 }, () => "a:"), "host: b")
    ],
    ...[
      "",
      "a b",
      "a,b",
      "a/b",
      "a@b",
      "a:b",
      "a:99999",
      "[::1",
      "[]",
      "[::g]",
      "::1",
      "a..b",
      ".",
      "%6c",
      "käse",
      "999.1.1.1"
    ].map((host) => [`Host: ${host}`, `GET /noted/a HTTP/1.1\r\nhost: ${host}\r\n\r\n`] as const),
    ...["", "a,b", "user@larder", "larder:x", "[::1"].map(
      (host) => [`http://${host}/`, `GET http://${host}/noted/a HTTP/1.1\r\nhost: larder\r\n\r\n`] as const
    ),
    ["no host", "GET /noted/a HTTP/1.1\r\n\r\n"],
    ["an empty host in HTTP/1.0", "GET /noted/a HTTP/1.0\r\nhost:\r\n\r\n"]
  ]
  it.each(requests)("is refused after the responses before it: %s", async (_what, bytes) => {
    const responses = await exchange(`${get("/slow")}${bytes}${get("/", "connection: close")}`)
    expect(responses.slice(0, 2)).toEqual(["200 slow", unclearHost])
    expect(handledNames).toEqual([])
  })

  it.each([
    "larder",
    "LARDER:80",
    "larder.example.:8080",
    "my_host-1",
    "127.0.0.1:1",
    "[::1]",
    "[::ffff:1.2.3.4]:65535"
  ])("is handled for the valid host %s", async (host) => {
    for (const head of [
      `GET /noted/a HTTP/1.1\r\nhost: ${host}\r\n`,
      `GET http://${host}/noted/a HTTP/1.1\r\nhost: larder\r\n`
    ]) {
      expect(await exchange(`${get("/slow")}${head}connection: close\r\n\r\n`)).toEqual(["200 slow", "200 noted"])
    }
  })
})

/** Blocks the whole process, like a long iteration of the event loop. */
const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

const waitForClose = (socket: Socket) =>
  Promise.all([once(socket, "end").then(() => socket.destroy()), once(socket, "close")])

describe("a stopping server", () => {
  it("handles a call that arrived on an idle connection while it was busy for longer than its grace period", async () => {
    const { stop, url } = await startServer()
    const { socket, text } = connectTo(url)
    socket.write(get("/"))
    await once(socket, "data")

    const closed = stop()
    await nextIteration() // the timers run next
    socket.write(get("/"))
    block(1_500)
    await Promise.all([waitForClose(socket), closed])
    expect(parseResponses(text())).toEqual(["200 quick", "200 quick"])
    expect(text().toLowerCase()).toMatch(/connection: keep-alive.*connection: close/s)
  })

  it("closes connections that were never used within its grace period", { timeout: 8_000 }, async () => {
    const { stop, url } = await startServer()
    const { socket, text } = connectTo(url)
    await once(socket, "connect")
    await Promise.all([waitForClose(socket), stop()]) // calls in flight would be waited for 10 seconds
    expect(text()).toBe("")
  })

  it("handles every pipelined call", async () => {
    const { stop, url } = await startServer()
    const { socket, text } = connectTo(url)
    socket.write(`${get("/slow")}${get("/slow")}`)
    await reached.promise
    await nextIteration()
    const closed = stop()
    socket.write(get("/slow"))
    await nextIteration()
    await nextIteration()
    gate.resolve()
    await Promise.all([waitForClose(socket), closed])
    expect(parseResponses(text())).toEqual(["200 slow", "200 slow", "200 slow"])
  })
})

it("accepts 64 unfinished requests per connection, and refuses the next with 503", async () => {
  const { socket, text } = connectTo(server.url)
  socket.write(get("/slow") + get("/").repeat(2_000))
  await reached.promise
  gate.resolve()
  await once(socket, "end")
  const responses = parseResponses(text())
  expect(responses.slice(0, 64)).toEqual(["200 slow", ...Array.from({ length: 63 }, () => "200 quick")])
  expect(responses.slice(64)).toEqual([expect.stringMatching(/^503 .*An unexpected error occurred/)])
  expect(text()).toContain("x-error-code: too_many_in_flight\r\n")
  expect(text()).toContain("retry-after: 1\r\n")
  socket.destroy()
})
