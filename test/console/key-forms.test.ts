/** The forms of keys, which know nothing of where the ledger is. */
import { scopes } from "@larder/schemas"
import { describe, expect, it } from "vitest"
import { sendOnce } from "../support/api/client.ts"
import { administer } from "../support/api/operator.ts"
import { keyIn, servedConsole } from "../support/console/served-console.ts"
import { carriedIn, edit, newKey, untouchedIn } from "./key-forms.ts"

describe("a key", () => {
  const site = servedConsole()
  const keysOf = (account_id: string) => administer(site.home(), ({ listKeys }) => listKeys({ account_id }))
  const oneKey = async (account_id: string) => {
    const [key] = await keysOf(account_id)
    if (key === undefined) throw new Error("there is no key")
    return key
  }
  const call = async (key: string | undefined) =>
    (await sendOnce(site.api(), "/v1/commodities?commodity=butter", { key })).status

  it("has a page whose heading says that it is a key, and that links to all keys", async () => {
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

  it("needs a name and nothing else", async () => {
    const { account, browser } = await site.signedIn()
    const form = untouchedIn((await browser.get("/keys/new")).text)
    expect(form).toMatchObject({ name: [""], access: ["all"], budget: ["25.00"] })
    const created = await browser.post("/keys/new", { ...form, name: "Dashboard" })
    expect([created.status, await call(keyIn(created.text))]).toEqual([200, 200])
    expect(await oneKey(account.id)).toMatchObject({ name: "Dashboard", scopes, budget_usd: 25 })
  })

  it("has a form with the price of a call beside each choice of scopes", async () => {
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

  it("is created once when its form is sent again, which answers 409", async () => {
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

  it("answers 409 with a colleague's change beside what was typed, and is saved when sent again", async () => {
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

  it("has each scope once when its form names one eight times", async () => {
    const { account, browser } = await site.signedIn()
    const scopes = [...Array.from({ length: 8 }, () => "get-store"), "get-product"]
    await browser.post("/keys/new", { ...newKey, access: "custom", scopes })
    expect((await oneKey(account.id)).scopes).toEqual(["get-store", "get-product"])
    expect((await browser.get("/keys")).text).not.toContain("Everything")
  })

  it.each([
    ["name", { ...newKey, name: " " }, "Give the key a name"],
    ["name", { ...newKey, name: "x".repeat(201) }, "Give the key a name"],
    ["name", { ...newKey, name: "\u200B\u2060" }, "Give the key a name"],
    ["budget", { ...newKey, budget: "-1" }, "Give a budget in dollars"],
    ["budget", { ...newKey, budget: "1.2345" }, "Give a budget in dollars"],
    ["access", { ...newKey, access: "custom" }, "Choose at least one scope"],
    ["access", { ...newKey, access: "custom", scopes: "everything-else" }, "Choose at least one scope"]
  ])("is not created with a wrong %s, and its form keeps what was typed (case %#)", async (field, fields, problem) => {
    const { account, browser } = await site.signedIn()
    const seen = await browser.post("/keys/new", fields)
    expect(seen.status).toBe(422)
    expect(seen.text).toContain(`href="#${field}"`)
    expect(seen.text).toContain(problem)
    expect(seen.text).toContain(`value="${fields.budget}"`)
    expect(await keysOf(account.id)).toEqual([])
  })

  it("has its name escaped on every page", async () => {
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

  it("is shown on a page without repeated ids, also with the name of a section", async () => {
    const { browser } = await site.signedIn()
    const { text } = await browser.post("/keys/new", { ...newKey, name: "Ready to use" })
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.length).toBeGreaterThan(4)
    expect(ids).toEqual([...new Set(ids)])
  })
})
