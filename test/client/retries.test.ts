/** The client with failing servers, proxies and networks. */
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { LarderError } from "@larder/schemas/client/errors.ts"
import { Larder } from "@larder/schemas/client/larder.ts"
import { afterEach, describe, expect, it } from "vitest"

const key = `svc_data_${"k".repeat(64)}`
const fault = { error: { type: "internal", message: "An unexpected error occurred" } }

let server: Server | undefined
let requests: Array<string | undefined> = []
/** Starts a server that sends these responses one after the other, and then repeats the last one. */
const startServer = async (...responses: ReadonlyArray<RequestListener>) => {
  requests = []
  server = createServer((request, response) => {
    const respond = responses[Math.min(requests.length, responses.length - 1)]
    requests.push(request.url)
    respond?.(request, response)
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

const respondJson =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
  }
const success = respondJson(200, { data: [] }, { "x-credits-charged": "10", "x-credits-remaining": "4990" })
const respondBusy = (seconds: string) => respondJson(503, fault, { "retry-after": seconds })

/** States a larger content length than it sends. */
const truncate =
  (status: number, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-length": "1000", "x-request-id": "req_1", ...headers })
    response.write('{"', () => response.destroy())
  }

const catchError = async (call: Promise<unknown>): Promise<LarderError> => {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error
  )
  if (error instanceof LarderError) return error
  throw new Error("the call should have failed with an error of the client", { cause: error })
}

describe("the address of the API", () => {
  it.each([
    ["/v1", "/v1/stores"],
    ["/v1/", "/v1/stores"],
    ["", "/v1/stores"],
    ["//", "/v1/stores"],
    ["/larder/v1", "/larder/v1/stores"],
    ["/larder/", "/larder/v1/stores"],
    ["/larder-v1", "/larder-v1/v1/stores"]
  ])("may end with %j, as servers print it or below a proxy's path", async (end, called) => {
    const larder = new Larder({ key, url: `${await startServer(success)}${end}` })
    await larder.searchStores()
    expect(requests).toEqual([called])
  })
})

describe("5xx are retried", () => {
  it("retries a 503 until the server succeeds, and reports the charge once", async () => {
    const larder = new Larder({ key, url: await startServer(respondBusy("0"), success) })
    const { cost, data } = await larder.getBrandedFoodCategories()
    expect(data).toEqual([])
    expect(cost).toMatchObject({ status: 200, creditsCharged: 10, attempts: 2 })
    expect(requests).toEqual(["/v1/branded-foods/categories", "/v1/branded-foods/categories"])
  })
  it("retries a 503 whose body is truncated", async () => {
    const larder = new Larder({ key, url: await startServer(truncate(503), success) })
    expect((await larder.getBrandedFoodCategories()).cost).toMatchObject({ status: 200, attempts: 2 })
  })
  it("retries up to the limit, then fails with the number of attempts", async () => {
    const larder = new Larder({ key, url: await startServer(respondJson(500, fault)), retries: 2 })
    const error = await catchError(larder.getBrandedFoodCategories())
    expect([error.name, error.status, error.message, error.cost?.attempts]).toEqual([
      "Internal",
      500,
      "An unexpected error occurred",
      3
    ])
    expect(requests).toHaveLength(3)
  })
  it("retries a 502 page of a proxy, then fails with UnknownAnswer", async () => {
    const page: RequestListener = (_request, response) => {
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>")
    }
    const larder = new Larder({ key, url: await startServer(page), retries: 1 })
    const error = await catchError(larder.searchStores())
    expect([error.name, error.status, error.type, error.cost?.attempts]).toEqual([
      "UnknownAnswer",
      502,
      "unknown_answer",
      2
    ])
    expect(error.message).toContain("<h1>Bad Gateway</h1>")
  })
  it("does not retry if Retry-After requests an hour", async () => {
    const larder = new Larder({ key, url: await startServer(respondBusy("3600")) })
    expect((await catchError(larder.searchStores())).name).toBe("Internal")
    expect(requests).toHaveLength(1)
  })
  it("does not retry if the client is set to 0 retries", async () => {
    const larder = new Larder({ key, url: await startServer(respondJson(500, fault)), retries: 0 })
    expect((await catchError(larder.searchStores())).cost?.attempts).toBe(1)
  })
  it("stops waiting for a retry when the signal fires", async () => {
    const controller = new AbortController()
    const url = await startServer((request, response) => {
      respondBusy("20")(request, response)
      response.once("finish", () => setTimeout(() => controller.abort("enough"), 50))
    })
    const call = new Larder({ key, url }).searchStores({}, { signal: controller.signal })
    expect(await call.catch((reason) => reason)).toBe("enough")
    expect(requests).toHaveLength(1)
  })
})

describe("nothing else is retried", () => {
  it.each([400, 401, 402, 403, 404, 429])("does not retry a %d", async (status) => {
    const refusal = { error: { type: "invalid_request", message: "No" } }
    const larder = new Larder({ key, url: await startServer(respondJson(status, refusal, { "retry-after": "0" })) })
    expect((await catchError(larder.searchStores())).status).toBe(status)
    expect(requests).toHaveLength(1)
  })
  it("does not retry a broken connection, because the call may have been charged", async () => {
    const larder = new Larder({ key, url: await startServer((request) => request.socket.destroy()) })
    const error = await catchError(larder.searchStores())
    expect([error.name, error.status, error.cost]).toEqual(["NoAnswer", undefined, undefined])
    expect(error.message).toMatch(/^The call got no response: .*It may have been charged/)
    expect(requests).toHaveLength(1)
  })
  it("does not retry a response that is cut off, and states the charge in the error", async () => {
    const url = await startServer(truncate(200, { "x-credits-charged": "10" }))
    const error = await catchError(new Larder({ key, url }).searchStores())
    expect([error.name, error.cost?.creditsCharged, error.requestId]).toEqual(["NoAnswer", 10, "req_1"])
    expect(requests).toHaveLength(1)
  })
  it("does not retry an error that is cut off, and states no charge", async () => {
    const error = await catchError(new Larder({ key, url: await startServer(truncate(400)) }).searchStores())
    expect([error.name, error.status, error.requestId]).toEqual(["UnknownAnswer", 400, "req_1"])
    expect(error.message).toMatch(/^(?!.*charged).*status 400 .*\(cut off: /)
    expect(requests).toHaveLength(1)
  })
  it("does not retry again if the network fails at a retry, and counts both attempts in the error", async () => {
    const larder = new Larder({ key, url: await startServer(respondBusy("0"), (request) => request.socket.destroy()) })
    const error = await catchError(larder.searchStores())
    expect([error.name, error.attempts, error.cost]).toEqual(["NoAnswer", 2, undefined])
    expect(error.message).toMatch(/^The call got no response at attempt 2: /)
    expect(requests).toHaveLength(2)
  })
  it.each([
    ["a page with 200", respondJson(200, "<h1>Welcome to the hotel network</h1>")],
    ["JSON that is not the API's", respondJson(200, { status: "ok" })],
    ["a response without a body", respondJson(204, undefined)]
  ])("does not retry %s", async (_, response) => {
    const larder = new Larder({ key, url: await startServer(response) })
    expect((await catchError(larder.searchStores())).name).toBe("UnknownAnswer")
    expect(requests).toHaveLength(1)
  })
  it("fails with NoAnswer when no server listens", async () => {
    const url = await startServer(success)
    server?.close()
    const error = await catchError(new Larder({ key, url }).searchStores())
    expect(error.name).toBe("NoAnswer")
    expect(error.message).toContain("ECONNREFUSED")
  })
})

describe("the key", () => {
  it("is sent only to the API: a redirect is not followed", async () => {
    const redirect = respondJson(302, {}, { location: "/elsewhere" })
    const larder = new Larder({ key, url: await startServer(redirect) })
    const error = await catchError(larder.searchStores())
    expect(error.name).toBe("NoAnswer")
    expect(requests).toEqual(["/v1/stores"])
  })
  it("appears in no error", async () => {
    const larder = new Larder({ key, url: await startServer((request) => request.socket.destroy()) })
    const error = await catchError(larder.searchStores())
    expect(`${error.stack}${JSON.stringify(error)}${String(error.cause)}`).not.toContain("kkkk")
  })
})
