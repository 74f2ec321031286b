import { hasValidChecksum, newApiKey } from "@larder/serve/ledger/api-key.ts"
import { describe, expect, it } from "vitest"
import { administer, createKey } from "../support/api/operator.ts"
import { sendRaw } from "../support/api/raw.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const target = "/v1/commodities?commodity=butter"
const malformed = "401 unauthorized: Missing or malformed Authorization: Bearer header"
const unknown = "401 unauthorized: Unknown or revoked API key"
const withHeader = (...lines: ReadonlyArray<string>) => {
  // Node's types allow one Authorization header, and its client sends several.
  const authorization = (lines.length === 1 ? lines[0] : lines) as string
  return api.get(target, { key: undefined, headers: { authorization } })
}

describe("a key", () => {
  it("has the prefix svc_data_, 64 letters and digits, and a valid checksum", () => {
    const { key } = api.key()
    expect(key).toMatch(/^svc_data_[A-Za-z0-9]{64}$/)
    expect(hasValidChecksum(key)).toBe(true)
  })

  it("is read from the header Authorization: Bearer", async () => {
    expect((await withHeader(`Bearer ${api.key().key}`)).status).toBe(200)
  })

  it.each(["bearer", "BEARER", "bEaReR"])("is read after the scheme in any letter case: %s", async (scheme) => {
    expect((await withHeader(`${scheme} ${api.key().key}`)).status).toBe(200)
  })

  it("is required by every endpoint", async () => {
    for (const template of Object.keys(api.client().document.paths)) {
      expect(formatError(await api.get(template.replace("{id}", "any"), { key: undefined }))).toBe(malformed)
    }
  })
})

describe("401: a missing or malformed header", () => {
  it("rejects a request without the header", async () => {
    expect(formatError(await api.get(target, { key: undefined }))).toBe(malformed)
  })

  it.each([
    ["is empty", () => ""],
    ["has no scheme", (key: string) => key],
    ["has only the scheme", () => "Bearer"],
    ["has only the scheme and a space", () => "Bearer "],
    ["has another scheme", (key: string) => `Basic ${key}`],
    ["has the scheme Token", (key: string) => `Token ${key}`],
    ["has no space", (key: string) => `Bearer${key}`],
    ["has a colon", (key: string) => `Bearer: ${key}`],
    ["has two tokens", (key: string) => `Bearer ${key} ${key}`],
    ["has two tokens with a comma", (key: string) => `Bearer ${key}, Bearer ${key}`],
    ["has quotes", (key: string) => `Bearer "${key}"`],
    ["is truncated by one character", (key: string) => `Bearer ${key.slice(0, -1)}`],
    ["has an additional character", (key: string) => `Bearer ${key}a`],
    ["has another prefix", (key: string) => `Bearer ${key.replace("svc_data_", "svc_date_")}`],
    ["has the prefix in upper case", (key: string) => `Bearer ${key.replace("svc_data_", "SVC_DATA_")}`],
    ["has no prefix", (key: string) => `Bearer ${key.replace("svc_data_", "")}`],
    ["has a hyphen in the key", (key: string) => `Bearer ${key.slice(0, -1)}-`],
    ["has an underscore in the key", (key: string) => `Bearer ${key.slice(0, -1)}_`],
    ["is Basic with the key as user", (key: string) => `Basic ${Buffer.from(`${key}:`).toString("base64")}`]
  ])("rejects a header that %s", async (_, header) => {
    expect(formatError(await withHeader(header(api.key().key)))).toBe(malformed)
  })

  it("rejects a repeated header, with the same key or another", async () => {
    const { key } = api.key()
    expect(formatError(await withHeader(`Bearer ${key}`, `Bearer ${key}`))).toBe(malformed)
    expect(formatError(await withHeader(`Bearer ${key}`, "Bearer nonsense"))).toBe(malformed)
    expect(formatError(await withHeader(`Bearer ${key}`, ""))).toBe(malformed)
  })

  it("rejects a header that is repeated in other letter cases on the wire", async () => {
    const { key } = api.key()
    const lines = [`Authorization: Bearer ${key}`, `AUTHORIZATION: Bearer ${key}`]
    const [reply] = await sendRaw(api.server().api, `GET ${target} HTTP/1.1`, ["Host: localhost", ...lines])
    expect(reply && formatError(reply)).toBe(malformed)
  })

  it("ignores a key in another header, a cookie or the query", async () => {
    const { key } = api.key()
    const headers = { "x-api-key": key, cookie: `key=${key}`, "proxy-authorization": `Bearer ${key}` }
    expect(formatError(await api.get(target, { key: undefined, headers }))).toBe(malformed)
    expect(formatError(await api.get(`${target}&api_key=${key}`, { key: undefined }))).toBe(malformed)
  })
})

describe("401: a key that is unknown or revoked, with one message for both", () => {
  it("rejects a well-formed key that was never created, whether its checksum is right or wrong", async () => {
    expect(formatError(await withHeader(`Bearer ${newApiKey()}`))).toBe(unknown)
    expect(formatError(await withHeader(`Bearer svc_data_${"a".repeat(64)}`))).toBe(unknown)
    const { key } = api.key()
    const other = key.endsWith("A") ? "B" : "A"
    expect(formatError(await withHeader(`Bearer ${key.slice(0, -1)}${other}`))).toBe(unknown)
    expect(formatError(await withHeader(`Bearer svc_data_${key.slice(9).toLowerCase()}`))).toBe(unknown)
  })

  it("rejects a revoked key from the next request on, and does not let it be edited", async () => {
    const { id, key } = await createKey(api.home())
    expect((await api.get("/v1/commodities/prices?series=nope", { key })).status).toBe(400)
    await administer(api.home(), (ledger) => ledger.revokeKey({ key_id: id }))
    expect(formatError(await api.get(target, { key }))).toBe(unknown)
    const edit = administer(api.home(), (ledger) => ledger.editKey({ key_id: id, budget_credits: 5_000 }))
    await expect(edit).rejects.toThrow(/was revoked at .* permanent/)
    expect(formatError(await api.get(target, { key }))).toBe(unknown)
  })
})

describe("403: a valid key without the endpoint's scope", () => {
  it("names the missing scope, until the key gets it by an edit", async () => {
    const { id, key } = await createKey(api.home(), { scopes: ["search-commodities"] })
    const prices = "/v1/commodities/prices?series=nope"
    const known = "/v1/commodities?limit=0"
    expect((await api.get(known, { key })).status).toBe(400)
    expect(formatError(await api.get(prices, { key }))).toBe(
      "403 forbidden: This key is not scoped to get-commodity-prices"
    )
    await administer(api.home(), (ledger) =>
      ledger.editKey({ key_id: id, scopes: ["get-commodity-prices", "get-product"] })
    )
    expect((await api.get(prices, { key })).status).toBe(400)
    expect(formatError(await api.get(known, { key }))).toBe(
      "403 forbidden: This key is not scoped to search-commodities"
    )
  })
})
