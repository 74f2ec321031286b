/** The TypeScript client in a browser. Every endpoint and every kind of failure are tested in Node: test/client/calls.test.ts */
import { describe, expect, it } from "vitest"
import { createKey } from "../../support/api/operator.ts"
import { fetchPages } from "../../support/api/pages.ts"
import { useSharedServer } from "../../support/api/server.ts"
import { runInBrowser } from "./in-browser.ts"

const api = useSharedServer()

describe("the client in Chromium, on a page of another origin", () => {
  it("reads all pages, fails with the API's message and reports what a call cost, as in Node", async () => {
    const { key } = await createKey(api.home())
    const { json } = await api.get("/v1/stores?query=bakery")
    const store: string = Object(json).data[0].id
    const returned = await runInBrowser(
      api.client(),
      api.server().api,
      `const larder = new Larder(${JSON.stringify({ key, url: api.server().api })})
       const titles = []
       for await (const { title } of larder.getStoreProducts.all(${JSON.stringify(store)}, { limit: 40 })) titles.push(title)
       const error = await larder.searchBrandedFoods({ limit: 201 }).catch((error) => error)
       return { titles, lastCall: larder.lastCall, refused: [error.name, error.message, error.requestId] }`
    )
    const titles = (await fetchPages((target) => api.get(target), `/v1/stores/${store}/products?limit=40`)).flat()
    expect(returned).toEqual({
      titles: titles.map((product) => Object(product).title),
      lastCall: expect.objectContaining({
        status: 400,
        creditsCharged: 0,
        dataVersion: "larder-000002",
        errorCode: "limit_too_large"
      }),
      refused: ["InvalidRequest", "at most 200 per page", expect.stringMatching(/^req_/)]
    })
  })

  it("may send any header besides the key, and reads the API's headers, but sends no cookies", async () => {
    const { key } = await createKey(api.home())
    const headers = {
      authorization: `Bearer ${key}`,
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "x-requested-with": "XMLHttpRequest",
      "content-type": "application/json"
    }
    const mcp = { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }) }
    const returned = await runInBrowser(
      api.client(),
      api.server().api,
      `const headers = ${JSON.stringify(headers)}
       const call = async (path, options) => {
         const response = await fetch(${JSON.stringify(api.server().api)} + path, { headers, ...options })
         await response.text()
         return [response.status, ...["x-credits-charged", "x-error-code", "link"].map((name) => response.headers.get(name))]
       }
       const mcp = ${JSON.stringify(mcp)}
       return {
         call: await call("/v1/commodities"),
         error: await call("/v1/stores?limit=x"),
         tools: await call("/mcp", mcp),
         cookies: await call("/mcp", { ...mcp, credentials: "include" }).catch(({ name }) => name)
       }`
    )
    expect(returned).toEqual({
      call: [200, "10", null, null],
      error: [400, "0", "invalid_parameter", '</docs/errors#invalid_parameter>; rel="help"'],
      tools: [200, "0", null, null],
      cookies: "TypeError"
    })
  })
})
