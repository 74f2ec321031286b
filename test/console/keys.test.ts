import { describe, expect, it } from "vitest"
import { sendOnce } from "../support/api/client.ts"
import { administer } from "../support/api/operator.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { useSharedConsole } from "../support/console/served-console.ts"
import { newKey } from "./key-forms.ts"

/** The JSON in an example on the page of a new key. */
const readExample = (page: string, id: string): unknown => {
  const [, text = ""] = new RegExp(`<code id="${id}">([^<]*)</code>`).exec(page) ?? []
  return JSON.parse(text.replaceAll("&quot;", '"'))
}

/** Pages and files that never show a whole key. */
const pathsWithoutKey = [
  "/",
  "/keys",
  "/usage",
  "/usage.csv",
  "/usage/statuses.csv",
  "/requests",
  "/billing",
  "/billing/payments",
  "/billing/ledger",
  "/billing/ledger.csv",
  "/data",
  "/account"
]

describe("keys in the console", () => {
  const site = useSharedConsole()
  const call = async (key: string, path = "/v1/commodities?commodity=butter") => {
    const { status } = await sendOnce(site.api(), path, { key })
    return status
  }
  const listKeys = (account_id: string) =>
    administer(site.home(), (administration) => administration.listKeys({ account_id }))
  const findOnlyKey = async (account_id: string) => {
    const [key] = await listKeys(account_id)
    if (key === undefined) throw new Error("there is no key")
    return key
  }

  it("shows a new key once, in the response to its form, and accepts it immediately", async () => {
    const { account, browser } = await site.signIn({ is_operator: true })
    const created = await browser.submit("/keys/new", newKey)
    const key = findKey(created.text) ?? ""
    expect(created.status).toBe(200)
    expect(created.headers.get("cache-control")).toBe("no-store")
    expect(created.text).toContain("only time that the key is shown")
    expect(created.text).toContain("It may read everything. It may spend up to $25.00 a month.")
    expect(created.text).toContain(`curl -H &quot;Authorization: Bearer ${key}&quot;`)
    expect(await call(key)).toBe(200)
    const { id, last4 } = await findOnlyKey(account.id)
    for (const path of [...pathsWithoutKey, `/keys/${id}`, `/keys/${id}/rotate`, `/keys/${id}/revoke`]) {
      const { status, text } = await browser.get(path)
      expect([path, status, findKey(text)]).toEqual([path, 200, undefined])
    }
    expect((await browser.get("/keys")).text).toContain(`svc_data_…${last4}`)
    expect(site.logs()).not.toContain(key.slice(9))
  })

  it("shows how assistants are configured, and counts their calls like other calls", async () => {
    const { browser } = await site.signIn()
    const { text } = await browser.submit("/keys/new", newKey)
    const headers = { Authorization: `Bearer ${findKey(text)}` }
    const { type, url } = { type: "http", url: `${site.api()}/mcp` }
    expect(readExample(text, "assistant")).toEqual({ mcpServers: { larder: { type, url, headers } } })
    const guide = await (await fetch(`${site.api()}/docs/assistants.md`)).text()
    const [, documented = ""] = [...guide.matchAll(/```text\n(\{.*?)```/gs)].map((match) => match[1])
    expect(readExample(text, "local-assistant")).toEqual(
      JSON.parse(documented.replace("svc_data_…", findKey(text) ?? ""))
    )
    expect(text).toContain(`<a href="${site.api()}/docs/assistants" target="_blank" rel="noopener">`)
    const params = { name: "search_stores", arguments: { limit: 1 } }
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream"
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
    })
    expect(await response.text()).toContain("Charged 100 credits")
    const requests = await browser.get("/requests")
    expect(requests.text).toContain(response.headers.get("x-request-id"))
    expect(requests.text).toContain("/v1/stores")
    expect((await browser.get("/usage")).text).toContain("/v1/stores")
    expect((await browser.get("/")).text).toContain("$4.90")
  })

  it("shows the spent part of a key's budget, and its last use", async () => {
    const { account, browser } = await site.signIn()
    const key = findKey((await browser.submit("/keys/new", { ...newKey, budget: "0.02" })).text) ?? ""
    const keyPage = `/keys/${(await findOnlyKey(account.id)).id}`
    for (const path of ["/keys", keyPage]) expect((await browser.get(path)).text).toContain("not yet")
    expect(await call(key)).toBe(200)
    expect((await browser.get("/keys")).text).not.toContain("budget spent")
    for (const path of [keyPage, `${keyPage}/revoke`]) {
      expect((await browser.get(path)).text).toMatch(/<dt>Last used<\/dt><dd><time datetime="\d{4}-/)
    }
    expect((await browser.get(keyPage)).text).toContain("active</span>")
    expect([await call(key), await call(key)]).toEqual([200, 402])
    const { text } = await browser.get("/keys")
    expect(text).toContain("budget spent</span>")
    expect((await browser.get(keyPage)).text).toContain("budget spent</span>")
    expect(text).toContain("$0.02 of $0.02")
    expect(text).not.toContain("not yet")
    expect((await findOnlyKey(account.id)).spent_usd).toBe(0.02)
    const overview = await browser.get("/")
    expect(overview.text).toContain("$4.98")
    expect(overview.text).toContain("2 charged calls")
    expect(overview.text).toContain("a day, by today&#39;s calls")
  })

  it("marks the budget as spent once the rest does not cover any call of the key", async () => {
    const { browser } = await site.signIn()
    const stores = { ...newKey, access: "custom", scopes: "search-stores", budget: "0.15" }
    const key = findKey((await browser.submit("/keys/new", stores)).text) ?? ""
    expect([await call(key, "/v1/stores"), await call(key, "/v1/stores")]).toEqual([200, 402])
    expect((await browser.get("/keys")).text).toContain('$0.10 of $0.15 <span class="badge warning">budget spent')
  })

  it("states the rest of a nearly spent budget in words", async () => {
    const { browser } = await site.signIn()
    const key = findKey((await browser.submit("/keys/new", { ...newKey, budget: "0.05" })).text) ?? ""
    for (let calls = 0; calls < 3; calls++) await call(key)
    expect((await browser.get("/keys")).text).not.toContain(" left</small>")
    await call(key)
    expect((await browser.get("/keys")).text).toContain("$0.01 left</small>")
  })

  it("shows the spending of a paused or revoked key", async () => {
    const { account, browser } = await site.signIn()
    await call(findKey((await browser.submit("/keys/new", newKey)).text) ?? "")
    const path = `/keys/${(await findOnlyKey(account.id)).id}`
    await browser.submit(path, { ...newKey, budget: "0" })
    expect((await browser.get("/keys")).text).toContain("It may read everything. It is paused: its budget is 0.")
    expect((await browser.get("/keys")).text).toMatch(/\$0\.01 of \$0\.00 <span class="badge warning">paused/)
    const paused = (await browser.get(path)).text
    expect(paused).toContain("$0.01 of $0.00")
    expect(paused).toContain("paused</span>")
    await browser.submit(`${path}/revoke`)
    expect((await browser.get("/keys?revoked=1")).text).toContain("$0.01 of $0.00")
    expect((await browser.get(path)).text).not.toContain("paused")
  })

  it("changes name, scopes and budget from the next call on, and keeps the key", async () => {
    const { account, browser } = await site.signIn()
    const key = findKey((await browser.submit("/keys/new", newKey)).text) ?? ""
    const { id } = await findOnlyKey(account.id)
    const edited = await browser.submit(`/keys/${id}`, {
      name: "Prices",
      access: "custom",
      scopes: ["get-commodity-prices", "search-stores"],
      budget: "12.50"
    })
    expect([edited.status, edited.location]).toEqual([303, "/keys"])
    expect(await findOnlyKey(account.id)).toMatchObject({
      name: "Prices",
      scopes: ["get-commodity-prices", "search-stores"],
      budget_usd: 12.5
    })
    expect((await browser.get("/keys")).text).toContain("“Prices” is saved")
    expect(await call(key)).toBe(403)
    expect(await call(key, "/v1/commodities/prices?series=butter-sales-price-weekly")).toBe(200)
    await browser.submit(`/keys/${id}`, { name: "Prices", access: "all", budget: "0" })
    expect(await call(key)).toBe(402)
    expect((await browser.get("/keys")).text).toContain("paused")
  })

  it("saves only the changed fields: scopes and a budget that a colleague has narrowed stay narrow", async () => {
    const { account, browser } = await site.signIn()
    await browser.submit("/keys/new", newKey)
    const { id } = await findOnlyKey(account.id)
    const opened = readHiddenFields((await browser.get(`/keys/${id}`)).text)
    const narrowed = { ...newKey, access: "custom", scopes: "get-store", budget: "1" }
    expect((await browser.submit(`/keys/${id}`, narrowed)).status).toBe(303)
    const renamed = await browser.post(`/keys/${id}`, { ...opened, ...newKey, name: "Renamed" })
    expect(renamed.status).toBe(303)
    expect(await findOnlyKey(account.id)).toMatchObject({ name: "Renamed", scopes: ["get-store"], budget_usd: 1 })
    const { text } = await browser.get("/keys")
    expect(text).toContain("“Renamed” is saved. It may read get-store. It may spend up to $1.00 a month.")
  })

  it("replaces a key once by another one with the same budget, and accepts the former one for a time", async () => {
    const { account, browser } = await site.signIn()
    const former = findKey((await browser.submit("/keys/new", newKey)).text) ?? ""
    const { id } = await findOnlyKey(account.id)
    const page = (await browser.get(`/keys/${id}/rotate`)).text
    const form = { ...readHiddenFields(page), overlap: "24" }
    const replaced = await browser.post(`/keys/${id}/rotate`, form)
    const key = findKey(replaced.text) ?? ""
    expect(replaced.headers.get("cache-control")).toBe("no-store")
    expect(replaced.text).toContain("Both spend the same budget.")
    expect(key).not.toBe(former)
    expect([await call(former), await call(key)]).toEqual([200, 200])
    expect((await browser.post(`/keys/${id}/rotate`, form)).status).toBe(409)
    expect([await call(former), await call(key)]).toEqual([200, 200])
    const about = (await browser.get(`/keys/${id}`)).text
    expect(about).toContain(`svc_data_…${former.slice(-4)}`)
    expect(findKey(about)).toBeUndefined()
    expect((await browser.get(`/keys/${id}/rotate`)).text).toContain(
      "If you replace it again, that former key stops working immediately."
    )
    await browser.submit(`/keys/${id}/rotate`, { overlap: "0" })
    expect([await call(former), await call(key)]).toEqual([401, 401])
    expect((await browser.submit(`/keys/${id}/rotate`, { overlap: "5" })).status).toBe(422)
  })

  it("sets and shows an expiry, and rejects a past or invalid time", async () => {
    const { account, browser } = await site.signIn()
    const created = await browser.submit("/keys/new", { ...newKey, expires_at: "2100-01-31 00:00" })
    expect(await call(findKey(created.text) ?? "")).toBe(200)
    const { expires_at, id } = await findOnlyKey(account.id)
    expect(expires_at).toBe("2100-01-31T00:00:00.000Z")
    for (const path of ["/keys", `/keys/${id}`])
      expect((await browser.get(path)).text).toContain("2100-01-31T00:00:00.000Z")
    for (const [typed, problem] of [
      ["2020-01-31 00:00", "This time has passed."],
      ["2100-02-31 00:00", "Give a time such as"],
      ["tomorrow", "Give a time such as"]
    ] as const) {
      for (const path of ["/keys/new", `/keys/${id}`]) {
        const { status, text } = await browser.submit(path, { ...newKey, expires_at: typed })
        expect([status, text.includes(problem), text.includes(`value="${typed}"`)]).toEqual([422, true, true])
      }
    }
    await browser.submit(`/keys/${id}`, { ...newKey, expires_at: "" })
    expect((await findOnlyKey(account.id)).expires_at).toBeNull()
  })

  it("revokes a key permanently after confirmation, and the next call is refused", async () => {
    const { account, browser } = await site.signIn()
    const key = findKey((await browser.submit("/keys/new", newKey)).text) ?? ""
    const { id } = await findOnlyKey(account.id)
    expect((await browser.get(`/keys/${id}/revoke`)).text).toContain("This cannot be undone.")
    expect(await call(key)).toBe(200)
    expect((await browser.submit(`/keys/${id}/revoke`)).status).toBe(303)
    expect(await call(key)).toBe(401)
    expect((await browser.get("/keys")).text).toContain("Revoked keys (1)")
    const { text } = await browser.get("/keys")
    expect(text).toContain("All your keys are revoked")
    expect(text).not.toContain(`svc_data_…${key.slice(-4)}`)
    const withRevoked = await browser.get("/keys?revoked=1")
    expect(withRevoked.text).toContain(`svc_data_…${key.slice(-4)}`)
    expect(withRevoked.text).toContain(`href="/keys/${id}"`)
    expect((await browser.get(`/keys/${id}`)).text).toContain("revoked</span>")
    expect((await browser.submit(`/keys/${id}`, newKey)).status).toBe(303)
    expect((await browser.get("/keys")).text).toContain("This key was already revoked, so nothing was changed.")
    expect(await call(key)).toBe(401)
  })

  it("returns 404 for a key of another account, and shows none of its data", async () => {
    const owner = await site.signIn({ name: "Owner" })
    const key = findKey((await owner.browser.submit("/keys/new", { ...newKey, name: "Private" })).text) ?? ""
    await call(key)
    const before = await findOnlyKey(owner.account.id)
    const { browser } = await site.signIn({ is_operator: true, name: "Stranger" })
    for (const path of [`/keys/${before.id}`, `/keys/${before.id}/revoke`]) {
      const page = await browser.get(path)
      expect(page.status).toBe(404)
      expect(page.text).not.toContain("Private")
      const sent = await browser.submit(path, { ...newKey, name: "Mine now" })
      expect(sent.status).toBe(404)
    }
    for (const path of ["/", "/keys", "/usage", "/requests", "/account", "/billing"]) {
      const { status, text } = await browser.get(path)
      expect(status).toBe(200)
      for (const secret of ["Private", before.id, before.last4, owner.email, owner.account.id, "Owner"]) {
        expect(text).not.toContain(secret)
      }
    }
    expect(await findOnlyKey(owner.account.id)).toEqual(before)
    expect(await call(key)).toBe(200)
  })
})
