/** The client against servers, proxies and networks that misbehave in ways that ours does only in an outage. */
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { LarderError } from "@larder/schemas/client/errors.ts"
import { Larder } from "@larder/schemas/client/larder.ts"
import { afterEach, describe, expect, it } from "vitest"

const key = `svc_data_${"k".repeat(64)}`
const fault = { error: { type: "internal", message: "An unexpected error occurred" } }

let server: Server | undefined
let asked: Array<string | undefined> = []
/** A server that gives its answers one after the other, and the last one again and again. */
const answering = async (...answers: ReadonlyArray<RequestListener>) => {
  asked = []
  server = createServer((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]
    asked.push(request.url)
    answer?.(request, response)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
  }
const fine = json(200, { data: [] }, { "x-credits-charged": "10", "x-credits-remaining": "4990" })
const busy = (seconds: string) => json(503, fault, { "retry-after": seconds })

/** Announces more than it sends. */
const brokenOff =
  (status: number, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-length": "1000", "x-request-id": "req_1", ...headers })
    response.write('{"', () => response.destroy())
  }

const failing = async (call: Promise<unknown>): Promise<LarderError> => {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error
  )
  if (error instanceof LarderError) return error
  throw new Error("the call should have failed with an error of the client", { cause: error })
}

describe("5xx are retried", () => {
  it("retries a 503 until the server answers, and reports the charge once", async () => {
    const larder = new Larder({ key, url: await answering(busy("0"), fine) })
    const { cost, data } = await larder.getBrandedFoodCategories()
    expect(data).toEqual([])
    expect(cost).toMatchObject({ status: 200, creditsCharged: 10, attempts: 2 })
    expect(asked).toEqual(["/v1/branded-foods/categories", "/v1/branded-foods/categories"])
  })
  it("retries a 503 whose body breaks off", async () => {
    const larder = new Larder({ key, url: await answering(brokenOff(503), fine) })
    expect((await larder.getBrandedFoodCategories()).cost).toMatchObject({ status: 200, attempts: 2 })
  })
  it("retries as often as the client may, then fails with the number of attempts", async () => {
    const larder = new Larder({ key, url: await answering(json(500, fault)), retries: 2 })
    const error = await failing(larder.getBrandedFoodCategories())
    expect([error.name, error.status, error.message, error.cost?.attempts]).toEqual([
      "Internal",
      500,
      "An unexpected error occurred",
      3
    ])
    expect(asked).toHaveLength(3)
  })
  it("retries a 502 page of a proxy, then fails with UnknownAnswer", async () => {
    const page: RequestListener = (_request, response) => {
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>")
    }
    const larder = new Larder({ key, url: await answering(page), retries: 1 })
    const error = await failing(larder.searchStores())
    expect([error.name, error.status, error.type, error.cost?.attempts]).toEqual([
      "UnknownAnswer",
      502,
      "unknown_answer",
      2
    ])
    expect(error.message).toContain("<h1>Bad Gateway</h1>")
  })
  it("does not retry when Retry-After asks for an hour", async () => {
    const larder = new Larder({ key, url: await answering(busy("3600")) })
    expect((await failing(larder.searchStores())).name).toBe("Internal")
    expect(asked).toHaveLength(1)
  })
  it("does not retry when the client is set to 0 retries", async () => {
    const larder = new Larder({ key, url: await answering(json(500, fault)), retries: 0 })
    expect((await failing(larder.searchStores())).cost?.attempts).toBe(1)
  })
  it("stops waiting for a retry when the signal fires", async () => {
    const controller = new AbortController()
    const url = await answering((request, response) => {
      busy("20")(request, response)
      response.once("finish", () => setTimeout(() => controller.abort("enough"), 50))
    })
    const call = new Larder({ key, url }).searchStores({}, { signal: controller.signal })
    expect(await call.catch((reason) => reason)).toBe("enough")
    expect(asked).toHaveLength(1)
  })
})

describe("nothing else is retried", () => {
  it.each([400, 401, 402, 403, 404, 429])("does not retry a %d", async (status) => {
    const refusal = { error: { type: "invalid_request", message: "No" } }
    const larder = new Larder({ key, url: await answering(json(status, refusal, { "retry-after": "0" })) })
    expect((await failing(larder.searchStores())).status).toBe(status)
    expect(asked).toHaveLength(1)
  })
  it("does not retry a cut connection, because the call may have been charged", async () => {
    const larder = new Larder({ key, url: await answering((request) => request.socket.destroy()) })
    const error = await failing(larder.searchStores())
    expect([error.name, error.status, error.cost]).toEqual(["NoAnswer", undefined, undefined])
    expect(error.message).toMatch(/^The call got no answer: .*It may have been charged/)
    expect(asked).toHaveLength(1)
  })
  it("does not retry an answer that breaks off, and reports in the error what was charged", async () => {
    const url = await answering(brokenOff(200, { "x-credits-charged": "10" }))
    const error = await failing(new Larder({ key, url }).searchStores())
    expect([error.name, error.cost?.creditsCharged, error.requestId]).toEqual(["NoAnswer", 10, "req_1"])
    expect(asked).toHaveLength(1)
  })
  it("does not retry a refusal that breaks off, and reports no charge in the error", async () => {
    const error = await failing(new Larder({ key, url: await answering(brokenOff(400)) }).searchStores())
    expect([error.name, error.status, error.requestId]).toEqual(["UnknownAnswer", 400, "req_1"])
    expect(error.message).toMatch(/^(?!.*charged).*status 400 .*\(broke off: /)
    expect(asked).toHaveLength(1)
  })
  it("does not retry when the network fails at a retry, and counts both attempts in the error", async () => {
    const larder = new Larder({ key, url: await answering(busy("0"), (request) => request.socket.destroy()) })
    const error = await failing(larder.searchStores())
    expect([error.name, error.attempts, error.cost]).toEqual(["NoAnswer", 2, undefined])
    expect(error.message).toMatch(/^The call got no answer at attempt 2: /)
    expect(asked).toHaveLength(2)
  })
  it.each([
    ["a page that says 200", json(200, "<h1>Welcome to the hotel network</h1>")],
    ["JSON that is not the API's", json(200, { status: "ok" })],
    ["an answer without a body", json(204, undefined)]
  ])("does not retry %s", async (_, answer) => {
    const larder = new Larder({ key, url: await answering(answer) })
    expect((await failing(larder.searchStores())).name).toBe("UnknownAnswer")
    expect(asked).toHaveLength(1)
  })
  it("fails with NoAnswer when no server listens", async () => {
    const url = await answering(fine)
    server?.close()
    const error = await failing(new Larder({ key, url }).searchStores())
    expect(error.name).toBe("NoAnswer")
    expect(error.message).toContain("ECONNREFUSED")
  })
})

describe("the key", () => {
  it("goes to the API only: a redirect is not followed", async () => {
    const elsewhere = json(302, {}, { location: "/elsewhere" })
    const larder = new Larder({ key, url: await answering(elsewhere) })
    const error = await failing(larder.searchStores())
    expect(error.name).toBe("NoAnswer")
    expect(asked).toEqual(["/v1/stores"])
  })
  it("appears in no error", async () => {
    const larder = new Larder({ key, url: await answering((request) => request.socket.destroy()) })
    const error = await failing(larder.searchStores())
    expect(`${error.stack}${JSON.stringify(error)}${String(error.cause)}`).not.toContain("kkkk")
  })
})
