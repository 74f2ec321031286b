/** Keys, prices, parameters and errors of the five storefront endpoints. */
import type { Scope } from "@larder/schemas"
import type { NewKey } from "@larder/serve/ledger"
import { beforeAll, describe, expect, it } from "vitest"
import { administer, createKey } from "../support/api/operator.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()

/** A store and a product of the bundled samples. */
const ids = { platform_store_shop: "", platform_product_bread: "" }
const fetchFirstId = async (path: string) => {
  const { json } = await api.get(`${path}?limit=1`)
  return (json as { readonly data: ReadonlyArray<{ readonly id: string }> }).data[0]?.id ?? ""
}
const insertIds = (path: string) =>
  path.replace(/platform_(?:store_shop|product_bread)/, (name) => ids[name as keyof typeof ids])
let unpaid: NewKey
beforeAll(async () => {
  await administer(api.home(), (ledger) =>
    ledger.creditAccount({ account_id: api.key().account_id, credits: 90_000, note: "calls" })
  )
  unpaid = await createKey(api.home())
  for (let call = 0; call < 50; call++) expect((await api.get("/v1/stores", { key: unpaid.key })).status).toBe(200)
  ids.platform_store_shop = await fetchFirstId("/v1/stores")
  ids.platform_product_bread = await fetchFirstId(`/v1/stores/${ids.platform_store_shop}/products`)
})

const endpoints: ReadonlyArray<readonly [path: string, scope: Scope, parameters: ReadonlyArray<string>]> = [
  ["/v1/stores", "search-stores", ["query", "category", "country", "limit", "cursor"]],
  ["/v1/stores/platform_store_shop", "get-store", []],
  ["/v1/stores/platform_store_shop/products", "get-store-products", ["limit", "cursor"]],
  ["/v1/stores/platform_store_shop/collections", "get-store-collections", ["limit", "cursor"]],
  ["/v1/products/platform_product_bread", "get-product", []]
]
const callForFree = async (target: string, key?: string) => {
  const reply = await api.get(target, key === undefined ? {} : { key })
  expect(reply.headers["x-credits-charged"]).toBe("0")
  return formatError(reply)
}

describe.each(endpoints)("%s", (template, scope, parameters) => {
  let path = ""
  beforeAll(() => {
    path = insertIds(template)
  })

  it("costs 100 credits, and names the generation that it reads", async () => {
    const before = Number((await api.get("/v1/stores?limit=0")).headers["x-credits-remaining"])
    const { headers, status } = await api.get(path)
    expect([status, headers["x-credits-charged"], headers["x-data-version"]]).toEqual([200, "100", "larder-000003"])
    expect(Number(headers["x-credits-remaining"])).toBe(before - 100)
  })

  it("requires a key that has its scope", async () => {
    const withKey = async (key: string | undefined) => formatError(await api.get(path, { key }))
    expect(await withKey(undefined)).toBe("401 unauthorized: Missing or malformed Authorization: Bearer header")
    expect(await withKey(`svc_data_${"x".repeat(64)}`)).toBe("401 unauthorized: Unknown or revoked API key")
    const allowed = await createKey(api.home(), { scopes: [scope] })
    expect((await api.get(path, { key: allowed.key })).status).toBe(200)
    const others = endpoints.flatMap(([, other]) => (other === scope ? [] : [other]))
    const otherScopes = await createKey(api.home(), { scopes: others })
    expect(await callForFree(path, otherScopes.key)).toBe(`403 forbidden: This key is not scoped to ${scope}`)
  })

  it("responds with 402 at the spend cap and without balance, before a record is looked up", async () => {
    const capped = await createKey(api.home(), { budget: 199 })
    expect((await api.get(path, { key: capped.key })).status).toBe(200)
    expect(await callForFree(path, capped.key)).toBe("402 insufficient_balance: Monthly spend cap reached")
    const unknown = template.replace(/platform_\w+/, "platform_none")
    expect(await callForFree(unknown, capped.key)).toBe("402 insufficient_balance: Monthly spend cap reached")
    expect(await callForFree(`${path}?nothing=1`, capped.key)).toMatch(
      /^400 invalid_request: Unknown query parameter: nothing\. /
    )
    expect(await callForFree(path, unpaid.key)).toBe("402 insufficient_balance: Insufficient balance")
  })

  it("rejects a repeated parameter and names it", async () => {
    for (const name of parameters) {
      expect(await callForFree(`${path}?${name}=1&${name}=1`)).toBe(
        `400 invalid_request: Repeated query parameter: ${name}`
      )
    }
  })

  it("requires `limit` to be a whole number of at least 1", async () => {
    if (!parameters.includes("limit")) return
    for (const limit of ["0", "000", "-1", "1.5", "x", "", "1e2", "+1", " 1", "１"]) {
      expect(await callForFree(`${path}?limit=${encodeURIComponent(limit)}`)).toBe(
        "400 invalid_request: limit must be a whole number of at least 1"
      )
    }
  })

  it("rejects a cursor that the API never issued, before it looks up the store", async () => {
    if (!parameters.includes("cursor")) return
    for (const target of [path, template.replace("platform_store_shop", "platform_store_none")]) {
      expect(await callForFree(`${target}?cursor=abc`)).toMatch(/^400 invalid_request: cursor /)
    }
  })

  it("responds with 404 to a trailing slash, and 405 to POST, HEAD and DELETE", async () => {
    expect((await api.get(`${path}/`)).status).toBe(404)
    for (const method of ["POST", "HEAD", "DELETE"]) expect((await api.get(path, { method })).status).toBe(405)
  })
})
