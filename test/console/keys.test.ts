import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { ask } from "../contract/client.ts"
import { operate } from "../contract/operator.ts"
import { ledgers } from "../contract/served.ts"
import type { Browser, Fields } from "./browser.ts"
import { keyIn, servedConsole } from "./served-console.ts"

/** The JSON that an example on the page of a new key holds. */
const exampleIn = (page: string, id: string): unknown => {
  const [, text = ""] = new RegExp(`<code id="${id}">([^<]*)</code>`).exec(page) ?? []
  return JSON.parse(text.replaceAll("&quot;", '"'))
}

const newKey = { name: "Dashboard", access: "all", budget: "25" }

/** What a form carries unseen. */
const carriedIn = (page: string): Fields =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
  )
/** Opens the form of a key and sends it. */
const edit = async (browser: Browser, path: string, fields: Fields) =>
  browser.post(path, { ...carriedIn((await browser.get(path)).text), ...fields })

describe.each(ledgers)("keys in the console, with the ledger %s", (ledger) => {
  const site = servedConsole({ ledger })
  const call = async (key: string, path = "/v1/commodities?commodity=butter") => {
    const { status } = await ask(site.api(), path, { key })
    return status
  }
  const keysOf = (account_id: string) =>
    operate(site.home(), (administration) => administration.listKeys({ account_id }))
  const oneKey = async (account_id: string) => {
    const [key] = await keysOf(account_id)
    if (key === undefined) throw new Error("there is no key")
    return key
  }

  it("shows a new key once, in the answer to its form, and it works at once", async () => {
    const { account, browser } = await site.signedIn()
    const created = await browser.post("/keys/new", newKey)
    const key = keyIn(created.text) ?? ""
    expect(created.status).toBe(200)
    expect(created.headers.get("cache-control")).toBe("no-store")
    expect(created.text).toContain("only time that the key is shown")
    expect(created.text).toContain("It may read everything. It may spend up to $25.00 a month.")
    expect(created.text).toContain(`curl -H &quot;Authorization: Bearer ${key}&quot;`)
    expect(await call(key)).toBe(200)
    const { id, last4 } = await oneKey(account.id)
    for (const path of ["/", "/keys", `/keys/${id}`, `/keys/${id}/revoke`, "/usage", "/requests", "/account"]) {
      const { text } = await browser.get(path)
      expect(keyIn(text)).toBeUndefined()
    }
    expect((await browser.get("/keys")).text).toContain(`svc_data_…${last4}`)
    expect(site.logs()).not.toContain(key.slice(9))
  })

  it("shows how assistants are configured, and counts what they call like other calls", async () => {
    const { browser } = await site.signedIn()
    const { text } = await browser.post("/keys/new", newKey)
    const headers = { Authorization: `Bearer ${keyIn(text)}` }
    const { type, url } = { type: "http", url: `${site.api()}/mcp` }
    expect(exampleIn(text, "assistant")).toEqual({ mcpServers: { larder: { type, url, headers } } })
    expect(exampleIn(text, "local-assistant")).toEqual({
      mcpServers: {
        larder: {
          command: "node",
          args: ["LARDER_FOLDER/serve/bin/larder-serve.mjs", "mcp", "--url", site.api()],
          env: { LARDER_API_KEY: keyIn(text) }
        }
      }
    })
    expect(text).toContain("Replace LARDER_FOLDER by the folder of your copy of Larder.")
    expect(text).toContain(`<a href="${site.api()}/docs/assistants">`)
    const params = { name: "search_stores", arguments: { limit: 1 } }
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream"
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
    })
    expect(await answer.text()).toContain("Charged 100 credits")
    const requests = await browser.get("/requests")
    expect(requests.text).toContain(answer.headers.get("x-request-id"))
    expect(requests.text).toContain("/v1/stores")
    expect((await browser.get("/usage")).text).toContain("/v1/stores")
    expect((await browser.get("/")).text).toContain("$4.90")
  })

  it("counts what a key has spent of its budget, and says when it was used", async () => {
    const { account, browser } = await site.signedIn()
    const key = keyIn((await browser.post("/keys/new", { ...newKey, budget: "0.02" })).text) ?? ""
    const keyPage = `/keys/${(await oneKey(account.id)).id}`
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
    expect((await oneKey(account.id)).spent_usd).toBe(0.02)
    const overview = await browser.get("/")
    expect(overview.text).toContain("$4.98")
    expect(overview.text).toContain("2 charged calls")
    expect(overview.text).toContain("a day, by today&#39;s calls")
  })

  it("says that the budget is spent once its rest pays for no call of the key", async () => {
    const { browser } = await site.signedIn()
    const stores = { ...newKey, access: "custom", scopes: "search-stores", budget: "0.15" }
    const key = keyIn((await browser.post("/keys/new", stores)).text) ?? ""
    expect([await call(key, "/v1/stores"), await call(key, "/v1/stores")]).toEqual([200, 402])
    expect((await browser.get("/keys")).text).toContain('$0.10 of $0.15 <span class="badge warning">budget spent')
  })

  it("says in words what is left of a budget that is nearly spent", async () => {
    const { browser } = await site.signedIn()
    const key = keyIn((await browser.post("/keys/new", { ...newKey, budget: "0.05" })).text) ?? ""
    for (let calls = 0; calls < 3; calls++) await call(key)
    expect((await browser.get("/keys")).text).not.toContain(" left</small>")
    await call(key)
    expect((await browser.get("/keys")).text).toContain("$0.01 left</small>")
  })

  it("shows what was spent of a key that is paused, and of one that is revoked", async () => {
    const { account, browser } = await site.signedIn()
    await call(keyIn((await browser.post("/keys/new", newKey)).text) ?? "")
    const path = `/keys/${(await oneKey(account.id)).id}`
    await edit(browser, path, { ...newKey, budget: "0" })
    expect((await browser.get("/keys")).text).toContain("It may read everything. It is paused: its budget is 0.")
    expect((await browser.get("/keys")).text).toMatch(/\$0\.01 of \$0\.00 <span class="badge warning">paused/)
    const paused = (await browser.get(path)).text
    expect(paused).toContain("$0.01 of $0.00")
    expect(paused).toContain("paused</span>")
    await browser.post(`${path}/revoke`, {})
    expect((await browser.get("/keys?revoked=1")).text).toContain("$0.01 of $0.00")
    expect((await browser.get(path)).text).not.toContain("paused")
  })

  it("has a page whose heading says that it is a key, and that leads back to all", async () => {
    const { account, browser } = await site.signedIn()
    await browser.post("/keys/new", { ...newKey, name: "Billing" })
    const path = `/keys/${(await oneKey(account.id)).id}`
    for (const revoked of [false, true]) {
      if (revoked) await browser.post(`${path}/revoke`, {})
      const { text } = await browser.get(path)
      expect(text).toContain("<h1>Key “Billing”</h1>")
      expect(text).toContain('<a href="/keys">All keys</a>')
      if (!revoked) expect((await browser.get(`${path}/revoke`)).text).toContain("<h1>Revoke “Billing”?</h1>")
    }
  })

  it("tells the price of a call beside each choice of what a key may read", async () => {
    const { browser } = await site.signedIn()
    const { text } = await browser.get("/keys/new")
    const hintOf = (label: string) => {
      const [, hint = ""] = new RegExp(`<span>${label} <small>(.*?)</small>`, "s").exec(text) ?? []
      return hint.replace(/<[^>]*>/g, "")
    }
    expect(hintOf("Everything")).toBe("All data sets – $0.01 to $0.10 a\u00a0call")
    expect(hintOf("Commodities")).toBe("search-commodities, get-commodity-prices – $0.01 a\u00a0call")
    expect(hintOf("Storefronts")).toMatch(/^search-stores, .* – \$0\.10 a\u00a0call$/)
    expect(hintOf("get-store-products")).toBe("/v1/stores/{id}/products – $0.10 a\u00a0call")
    expect(text).toContain('<span class="unbroken">get-commodity-prices</span>')
    expect(text).toContain('<code class="path">/v1/<wbr>stores/<wbr>{id}/<wbr>products</code>')
  })

  it("makes one key of one form, however often it is sent, and says so", async () => {
    const { account, browser } = await site.signedIn()
    const form = { ...carriedIn((await browser.get("/keys/new")).text), ...newKey }
    const created = await browser.post("/keys/new", form)
    expect(keyIn(created.text)).toBeDefined()
    const again = await browser.post("/keys/new", form)
    expect(again.status).toBe(409)
    expect(again.text).toContain("“Dashboard” was created the first time and is in the list")
    expect(keyIn(again.text)).toBeUndefined()
    expect(await keysOf(account.id)).toHaveLength(1)
    const stranger = await site.signedIn()
    expect(keyIn((await stranger.browser.post("/keys/new", form)).text)).toBeDefined()
    expect(keyIn((await browser.post("/keys/new", { ...form, name: "Another" })).text)).toBeDefined()
    const anew = { ...carriedIn((await browser.get("/keys/new")).text), ...newKey }
    expect(keyIn((await browser.post("/keys/new", anew)).text)).toBeDefined()
    expect(await keysOf(account.id)).toHaveLength(3)
  })

  it("changes name, scopes and budget from the next call on, and the key stays", async () => {
    const { account, browser } = await site.signedIn()
    const key = keyIn((await browser.post("/keys/new", newKey)).text) ?? ""
    const { id } = await oneKey(account.id)
    const edited = await edit(browser, `/keys/${id}`, {
      name: "Prices",
      access: "custom",
      scopes: ["get-commodity-prices", "search-stores"],
      budget: "12.50"
    })
    expect([edited.status, edited.location]).toEqual([303, "/keys"])
    expect(await oneKey(account.id)).toMatchObject({
      name: "Prices",
      scopes: ["get-commodity-prices", "search-stores"],
      budget_usd: 12.5
    })
    expect((await browser.get("/keys")).text).toContain("“Prices” is saved")
    expect(await call(key)).toBe(403)
    expect(await call(key, "/v1/commodities/prices?series=butter-sales-price-weekly")).toBe(200)
    await edit(browser, `/keys/${id}`, { name: "Prices", access: "all", budget: "0" })
    expect(await call(key)).toBe(402)
    expect((await browser.get("/keys")).text).toContain("paused")
  })

  it("saves only what the person changed: what a colleague has narrowed meanwhile stays narrow", async () => {
    const { account, browser } = await site.signedIn()
    await browser.post("/keys/new", newKey)
    const { id } = await oneKey(account.id)
    const opened = carriedIn((await browser.get(`/keys/${id}`)).text)
    const narrowed = { ...newKey, access: "custom", scopes: "get-store", budget: "1" }
    expect((await edit(browser, `/keys/${id}`, narrowed)).status).toBe(303)
    const renamed = await browser.post(`/keys/${id}`, { ...opened, ...newKey, name: "Renamed" })
    expect(renamed.status).toBe(303)
    expect(await oneKey(account.id)).toMatchObject({ name: "Renamed", scopes: ["get-store"], budget_usd: 1 })
    const { text } = await browser.get("/keys")
    expect(text).toContain("“Renamed” is saved. It may read get-store. It may spend up to $1.00 a month.")
  })

  it("tells what a colleague has changed meanwhile beside what the person typed, and saves it when sent again", async () => {
    const { account, browser } = await site.signedIn()
    await browser.post("/keys/new", newKey)
    const { id } = await oneKey(account.id)
    const opened = carriedIn((await browser.get(`/keys/${id}`)).text)
    await edit(browser, `/keys/${id}`, { name: "Shop", access: "custom", scopes: "get-store", budget: "1" })
    const mine = { ...newKey, access: "commodities", budget: "50" }
    const told = await browser.post(`/keys/${id}`, { ...opened, ...mine })
    expect(told.status).toBe(409)
    expect(told.text).toContain("Changed meanwhile: the key may read this now: get-store.")
    expect(told.text).toContain("Changed meanwhile: the budget is $1.00 a month now.")
    expect(told.text).not.toContain("the name is")
    expect(told.text).toContain('value="50"')
    expect(told.text).toContain('value="Shop"')
    expect(told.text).toMatch(/value="commodities" checked/)
    expect(await oneKey(account.id)).toMatchObject({ name: "Shop", scopes: ["get-store"], budget_usd: 1 })
    const again = await browser.post(`/keys/${id}`, { ...carriedIn(told.text), ...mine, name: "Shop" })
    expect(again.status).toBe(303)
    expect(await oneKey(account.id)).toMatchObject({
      name: "Shop",
      scopes: ["search-commodities", "get-commodity-prices"],
      budget_usd: 50
    })
  })

  it("takes each scope once, however often the form names it", async () => {
    const { account, browser } = await site.signedIn()
    const scopes = [...Array.from({ length: 8 }, () => "get-store"), "get-product"]
    await browser.post("/keys/new", { ...newKey, access: "custom", scopes })
    expect((await oneKey(account.id)).scopes).toEqual(["get-store", "get-product"])
    expect((await browser.get("/keys")).text).not.toContain("Everything")
  })

  it("revokes a key for good after asking, and the next call is refused", async () => {
    const { account, browser } = await site.signedIn()
    const key = keyIn((await browser.post("/keys/new", newKey)).text) ?? ""
    const { id } = await oneKey(account.id)
    expect((await browser.get(`/keys/${id}/revoke`)).text).toContain("This cannot be undone.")
    expect(await call(key)).toBe(200)
    expect((await browser.post(`/keys/${id}/revoke`, {})).status).toBe(303)
    expect(await call(key)).toBe(401)
    expect((await browser.get("/keys")).text).toContain("Revoked keys (1)")
    expect((await browser.get("/keys")).text).not.toContain(`svc_data_…${key.slice(-4)}`)
    const withRevoked = await browser.get("/keys?revoked=1")
    expect(withRevoked.text).toContain(`svc_data_…${key.slice(-4)}`)
    expect(withRevoked.text).toContain(`href="/keys/${id}"`)
    expect((await browser.get(`/keys/${id}`)).text).toContain("revoked</span>")
    expect((await browser.post(`/keys/${id}`, newKey)).status).toBe(303)
    expect((await browser.get("/keys")).text).toContain("This key was revoked before, so nothing was changed.")
    expect(await call(key)).toBe(401)
  })

  it.each([
    ["name", { ...newKey, name: " " }, "Give the key a name"],
    ["name", { ...newKey, name: "x".repeat(201) }, "Give the key a name"],
    ["name", { ...newKey, name: "\u200B\u2060" }, "Give the key a name"],
    ["budget", { ...newKey, budget: "-1" }, "Give a budget in dollars"],
    ["budget", { ...newKey, budget: "1.2345" }, "Give a budget in dollars"],
    ["access", { ...newKey, access: "custom" }, "Choose at least one scope"],
    ["access", { ...newKey, access: "custom", scopes: "everything-else" }, "Choose at least one scope"]
  ])("a wrong %s makes no key and keeps what was typed", async (field, fields, problem) => {
    const { account, browser } = await site.signedIn()
    const seen = await browser.post("/keys/new", fields)
    expect(seen.status).toBe(422)
    expect(seen.text).toContain(`href="#${field}"`)
    expect(seen.text).toContain(problem)
    expect(seen.text).toContain(`value="${fields.budget}"`)
    expect(await keysOf(account.id)).toEqual([])
  })

  it("shows a name as it is, whatever stands in it", async () => {
    const { account, browser } = await site.signedIn({ name: '<script>alert(1)</script>"&' })
    const name = `"><img src=x onerror=alert(1)>'&amp;`
    const created = await browser.post("/keys/new", { ...newKey, name })
    const { id } = await oneKey(account.id)
    const pages = [
      created,
      ...(await Promise.all(["/keys", `/keys/${id}`, "/", "/account", "/requests"].map(browser.get)))
    ]
    for (const { text } of pages) {
      expect(text).not.toContain("<img")
      expect(text).not.toContain("<script>alert")
    }
    expect(created.text).toContain("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;amp;")
  })

  it("has no id twice on the page of a new key, whatever the key is called", async () => {
    const { browser } = await site.signedIn()
    const { text } = await browser.post("/keys/new", { ...newKey, name: "Ready to use" })
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.length).toBeGreaterThan(4)
    expect(ids).toEqual([...new Set(ids)])
  })

  it("are out of reach for other accounts: each is as if it did not exist", async () => {
    const owner = await site.signedIn({ name: "Owner of it" })
    const key = keyIn((await owner.browser.post("/keys/new", { ...newKey, name: "Private" })).text) ?? ""
    await call(key)
    const before = await oneKey(owner.account.id)
    const { browser } = await site.signedIn({ is_operator: true, name: "Stranger" })
    for (const path of [`/keys/${before.id}`, `/keys/${before.id}/revoke`]) {
      const seen = await browser.get(path)
      expect(seen.status).toBe(404)
      expect(seen.text).not.toContain("Private")
      const sent = await browser.post(path, { ...newKey, name: "Mine now" })
      expect(sent.status).toBe(404)
    }
    for (const path of ["/", "/keys", "/usage", "/requests", "/account", "/billing"]) {
      const { status, text } = await browser.get(path)
      expect(status).toBe(200)
      for (const secret of ["Private", before.id, before.last4, owner.email, owner.account.id, "Owner of it"]) {
        expect(text).not.toContain(secret)
      }
    }
    expect(await oneKey(owner.account.id)).toEqual(before)
    expect(await call(key)).toBe(200)
  })
})

describe("an account with all the keys that it may have", () => {
  const site = servedConsole()

  it("creates no key where there are 1,000 already, and says beside the form what to do", async () => {
    const { account, browser } = await site.signedIn()
    const key = { account_id: account.id, name: "One of many", scopes: ["get-store"], budget_credits: 0 } as const
    await operate(site.home(), ({ createKey }) =>
      Effect.all(
        Array.from({ length: 1_000 }, () => createKey(key)),
        { concurrency: 8, discard: true }
      )
    )
    const form = { ...carriedIn((await browser.get("/keys/new")).text), ...newKey }
    const seen = await browser.post("/keys/new", form)
    expect(seen.status).toBe(422)
    expect(seen.text).toContain("No key was created: there are 1,000 active keys")
    expect(seen.text).toContain(`value="${newKey.name}"`)
    const [one] = await operate(site.home(), ({ listKeys }) => listKeys({ account_id: account.id }))
    await browser.post(`/keys/${one?.id}/revoke`, {})
    expect(keyIn((await browser.post("/keys/new", form)).text)).toBeDefined()
  })
})
