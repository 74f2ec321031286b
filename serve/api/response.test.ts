import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { Effect, Exit, Scope } from "effect"
import { H3 } from "h3"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { makeSharedBody } from "./encoding.ts"
import { type Limiter, makeLimiter, type Permit } from "./fairness/limiter.ts"
import { listen } from "./listen.ts"
import { makeSender } from "./response.ts"

const mebibyte = 2 ** 20
const script = "s".repeat(4 * mebibyte)
const large = "ü".repeat(2 * mebibyte)

let scope: Scope.Closeable
let url: URL
let limiter: Limiter
const clients: Array<Socket> = []

beforeAll(async () => {
  scope = Scope.makeUnsafe()
  limiter = makeLimiter()
  const { respond, respondShared } = makeSender(limiter)
  const shared = makeSharedBody(script)
  const app = new H3()
    .get("/script", (event) => respondShared(event, shared, { status: 200, body: "", headers: {} }))
    .get("/large", async (event) => {
      const permit = (await limiter.acquire(
        { id: "k", account_id: "a" },
        100,
        new AbortController().signal,
        () => 0
      )) as Permit
      return respond(event, { status: 200, body: large, headers: {}, permit })
    })
  const options = { name: "server", host: "127.0.0.1", port: 0, setting: "LARDER_PORT" }
  url = new URL(await Effect.runPromise(Scope.provide(listen(app, options), scope)))
})
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Sends a request, waits for the first bytes of the response and then stops reading. */
const requestAndStopReading = async (path: string): Promise<Socket> => {
  const client = connect(Number(url.port), url.hostname)
  clients.push(client)
  client.write(`GET ${path} HTTP/1.1\r\nhost: larder\r\n\r\n`)
  await once(client, "readable")
  return client
}

describe("a large response", () => {
  it.each(["identity", "gzip"])(
    "arrives complete and releases its memory, with the content coding %s",
    async (coding) => {
      const response = await fetch(new URL("/large", url), { headers: { "accept-encoding": coding } })
      expect(await response.text()).toBe(large)
      expect(response.headers.get("content-encoding")).toBe(coding === "gzip" ? "gzip" : null)
      await vi.waitFor(() => expect(limiter.unsentBytes()).toBe(0))
    }
  )

  it("arrives complete for a client that has closed its sending side", async () => {
    const client = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true })
    clients.push(client)
    client.write("GET /large HTTP/1.1\r\nhost: larder\r\n\r\n")
    await once(client, "readable")
    client.end()
    let bytes = 0
    for await (const piece of client) bytes += (piece as Buffer).length
    expect(bytes).toBeGreaterThan(Buffer.byteLength(large))
  })

  it("counts as unsent until its client disconnects", async () => {
    const client = await requestAndStopReading("/large")
    expect(limiter.unsentBytes()).toBe(Buffer.byteLength(large))
    client.destroy()
    await vi.waitFor(() => expect(limiter.unsentBytes()).toBe(0))
  })
})

describe("a body that all callers share", () => {
  it("arrives complete in each content coding", async () => {
    const request = (coding: string) => fetch(new URL("/script", url), { headers: { "accept-encoding": coding } })
    for (const coding of ["identity", "gzip", "br", "zstd"]) {
      const response = await request(coding)
      expect(response.headers.get("content-encoding")).toBe(coding === "identity" ? null : coding)
      expect(await response.text()).toBe(script)
    }
  })

  it("is in memory once, even if many clients request it without reading it", async () => {
    await requestAndStopReading("/script")
    const before = process.memoryUsage().arrayBuffers
    for (let reader = 0; reader < 50; reader++) await requestAndStopReading("/script")
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * mebibyte) // 200 with one copy per reader
  })
})
