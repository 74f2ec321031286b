/** The forms of keys, which do not depend on where the ledger is stored. */
import { scopes } from "@larder/schemas"
import { describe, expect, it } from "vitest"
import { sendOnce } from "../support/api/client.ts"
import { administer } from "../support/api/operator.ts"
import { findKey, readFormFields, readHiddenFields } from "../support/console/pages.ts"
import { useSharedConsole } from "../support/console/served-console.ts"
import { newKey } from "./key-forms.ts"

describe("a key", () => {
  const site = useSharedConsole()
  const listKeys = (account_id: string) => administer(site.home(), (ledger) => ledger.listKeys({ account_id }))
  const findOnlyKey = async (account_id: string) => {
    const [key] = await listKeys(account_id)
    if (key === undefined) throw new Error("there is no key")
    return key
  }
  const call = async (key: string | undefined) =>
    (await sendOnce(site.api(), "/v1/commodities?commodity=butter", { key })).status

  it("has a page with “Key” in its heading and a link to all keys", async () => {
    const { account, browser } = await site.signIn()
    await browser.submit("/keys/new", { ...newKey, name: "Billing" })
    const path = `/keys/${(await findOnlyKey(account.id)).id}`
    for (const revoked of [false, true]) {
      if (revoked) await browser.submit(`${path}/revoke`)
      const { text } = await browser.get(path)
      expect(text).toContain("<h1>Key “Billing”</h1>")
      expect(text).toContain('<a href="/keys">All keys</a>')
      if (!revoked) expect((await browser.get(`${path}/revoke`)).text).toContain("<h1>Revoke “Billing”?</h1>")
    }
  })

  it("requires only a name", async () => {
    const { account, browser } = await site.signIn()
    const form = readFormFields((await browser.get("/keys/new")).text)
    expect(form).toMatchObject({ name: [""], access: ["all"], budget: ["25.00"] })
    const created = await browser.submit("/keys/new", { ...form, name: "Dashboard" })
    expect([created.status, await call(findKey(created.text))]).toEqual([200, 200])
    expect(await findOnlyKey(account.id)).toMatchObject({ name: "Dashboard", scopes, budget_usd: 25 })
  })

  it("has a form with the price of a call beside each choice of scopes", async () => {
    const { browser } = await site.signIn()
    const { text } = await browser.get("/keys/new")
    const readHint = (label: string) => {
      const [, hint = ""] = new RegExp(`<span>${label} <small>(.*?)</small>`, "s").exec(text) ?? []
      return hint.replace(/<[^>]*>/g, "")
    }
    expect(readHint("Everything")).toBe("All data sets – $0.01 to $0.10 a\u00a0call")
    expect(readHint("Commodities")).toBe("search-commodities, get-commodity-prices – $0.01 a\u00a0call")
    expect(readHint("Storefronts")).toMatch(/^search-stores, .* – \$0\.10 a\u00a0call$/)
    expect(readHint("get-store-products")).toBe("/v1/stores/{id}/products – $0.10 a\u00a0call")
    expect(text).toContain('<span class="unbroken">get-commodity-prices</span>')
    expect(text).toContain('<code class="path">/v1/<wbr>stores/<wbr>{id}/<wbr>products</code>')
  })

  it("is created once; sending its form again returns 409", async () => {
    const { account, browser } = await site.signIn()
    const form = { ...readHiddenFields((await browser.get("/keys/new")).text), ...newKey }
    const created = await browser.post("/keys/new", form)
    expect(findKey(created.text)).toBeDefined()
    const repeated = await browser.post("/keys/new", form)
    expect(repeated.status).toBe(409)
    expect(repeated.text).toContain("“Dashboard” was created the first time and is in the list")
    expect(findKey(repeated.text)).toBeUndefined()
    expect(await listKeys(account.id)).toHaveLength(1)
    expect(findKey((await browser.post("/keys/new", { ...form, name: "Another" })).text)).toBeDefined()
    const newForm = { ...readHiddenFields((await browser.get("/keys/new")).text), ...newKey }
    expect(findKey((await browser.post("/keys/new", newForm)).text)).toBeDefined()
    expect(await listKeys(account.id)).toHaveLength(3)
  })

  it("returns 409 with a colleague's change beside the typed values, and is saved if sent again", async () => {
    const { account, browser } = await site.signIn()
    await browser.submit("/keys/new", newKey)
    const { id } = await findOnlyKey(account.id)
    const opened = readHiddenFields((await browser.get(`/keys/${id}`)).text)
    await browser.submit(`/keys/${id}`, { name: "Shop", access: "custom", scopes: "get-store", budget: "1" })
    const mine = { ...newKey, access: "commodities", budget: "50" }
    const conflict = await browser.post(`/keys/${id}`, { ...opened, ...mine })
    expect(conflict.status).toBe(409)
    expect(conflict.text).toContain("Changed since you opened this page: the key may read this now: get-store.")
    expect(conflict.text).toContain("Changed since you opened this page: the budget is $1.00 a month now.")
    expect(conflict.text).not.toContain("the name is")
    expect(conflict.text).toContain('value="50"')
    expect(conflict.text).toContain('value="Shop"')
    expect(conflict.text).toMatch(/value="commodities" checked/)
    expect(await findOnlyKey(account.id)).toMatchObject({ name: "Shop", scopes: ["get-store"], budget_usd: 1 })
    const resent = await browser.post(`/keys/${id}`, { ...readHiddenFields(conflict.text), ...mine, name: "Shop" })
    expect(resent.status).toBe(303)
    expect(await findOnlyKey(account.id)).toMatchObject({
      name: "Shop",
      scopes: ["search-commodities", "get-commodity-prices"],
      budget_usd: 50
    })
  })

  it("has each scope once even if its form names one eight times", async () => {
    const { account, browser } = await site.signIn()
    const scopes = [...Array.from({ length: 8 }, () => "get-store"), "get-product"]
    await browser.submit("/keys/new", { ...newKey, access: "custom", scopes })
    expect((await findOnlyKey(account.id)).scopes).toEqual(["get-store", "get-product"])
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
  ])(
    "is not created with an invalid %s, and its form keeps the typed values (case %#)",
    async (field, fields, problem) => {
      const { account, browser } = await site.signIn()
      const refused = await browser.submit("/keys/new", fields)
      expect(refused.status).toBe(422)
      expect(refused.text).toContain(`href="#${field}"`)
      expect(refused.text).toContain(problem)
      expect(refused.text).toContain(`value="${fields.budget}"`)
      expect(await listKeys(account.id)).toEqual([])
    }
  )

  it("has its name escaped on every page", async () => {
    const { account, browser } = await site.signIn({ name: '<script>alert(1)</script>"&' })
    const name = `"><img src=x onerror=alert(1)>'&amp;`
    const created = await browser.submit("/keys/new", { ...newKey, name })
    const { id } = await findOnlyKey(account.id)
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

  it("is shown on a page without repeated ids, even if its name is the title of a section", async () => {
    const { browser } = await site.signIn()
    const { text } = await browser.submit("/keys/new", { ...newKey, name: "Ready to use" })
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.length).toBeGreaterThan(4)
    expect(ids).toEqual([...new Set(ids)])
  })
})
