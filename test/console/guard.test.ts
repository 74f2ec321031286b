import { request } from "node:http"
import { pages } from "@larder/serve/console"
import { beforeAll, describe, expect, it } from "vitest"
import { administer } from "../support/api/operator.ts"
import { nameSessionCookie } from "../support/console/browser.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { password, startOwnConsole, useSharedConsole } from "../support/console/served-console.ts"

const site = useSharedConsole()
const newKey = { name: "Dashboard", access: "all", budget: "25" }

const fillPath = (path: string) => path.replace(/:\w+/g, "none")
/** The path of every page, with placeholders for its parameters. */
const paths = pages.map(({ path }) => fillPath(path))
const forms = [
  ...pages.flatMap(({ path, post }) => (post === undefined ? [] : [fillPath(path)])),
  "/sign-in",
  "/forgot-password",
  "/sign-out",
  `/invitation/${"A".repeat(43)}`,
  "/simulator",
  "/simulator/payments/none",
  "/simulator/checkout/none"
]

const foreignForms: ReadonlyArray<readonly [what: string, headers: () => Record<string, string>]> = [
  ["without an Origin", () => ({})],
  ["of another site", () => ({ origin: "https://evil.example" })],
  ["of another port of this host", () => ({ origin: "http://127.0.0.1:1" })],
  ["of a longer host", () => ({ origin: `${site.url()}.evil.example` })],
  ["of an opaque origin", () => ({ origin: "null" })],
  ["that the browser calls cross-site", () => ({ origin: site.url(), "sec-fetch-site": "cross-site" })],
  ["that the browser calls same-site", () => ({ origin: site.url(), "sec-fetch-site": "same-site" })]
]

describe("the console", () => {
  let operator: Awaited<ReturnType<typeof site.signIn>>
  beforeAll(async () => {
    operator = await site.signIn({ is_operator: true })
  })
  it.each(foreignForms)("rejects a form %s on every page with 403, and changes nothing", async (_what, headers) => {
    const { account, browser } = operator
    const session = browser.cookies.get(nameSessionCookie(site.url()))
    for (const path of forms) {
      const { status, text } = await browser.post(path, { ...newKey, current: password, next: "x" }, headers())
      expect([path, status]).toEqual([path, 403])
      expect(text).toContain("This form was not sent from the console itself")
    }
    expect(await administer(site.home(), (ledger) => ledger.listKeys({ account_id: account.id }))).toEqual([])
    expect(browser.cookies.get(nameSessionCookie(site.url()))).toBe(session)
    expect((await browser.get("/account")).status).toBe(200)
  })

  it("accepts a form from the console itself, and rejects one from another name of this machine", async () => {
    const { browser } = await site.signIn()
    const port = new URL(site.url()).port
    const form = { ...readHiddenFields((await browser.get("/keys/new")).text), ...newKey }
    const sent = await browser.post("/keys/new", form, { origin: site.url(), "sec-fetch-site": "same-origin" })
    expect(findKey(sent.text)).toBeDefined()
    const refused = await browser.post("/keys/new", form, { origin: `http://localhost:${port}` })
    expect(refused.status).toBe(403)
  })

  it.each(["evil.example", "evil.example:8081", "localhost.evil.example"])(
    "rejects a form of a page at %s that leads to this machine, and names LARDER_CONSOLE_URL",
    async (host) => {
      const { hostname, port } = new URL(site.url())
      const headers = { host, origin: `http://${host}`, "content-type": "application/x-www-form-urlencoded" }
      const [status, text] = await new Promise<readonly [number | undefined, string]>((resolve, reject) => {
        request({ hostname, port, path: "/sign-in", method: "POST", headers }, async (response) => {
          resolve([response.statusCode, (await response.setEncoding("utf8").toArray()).join("")])
        })
          .on("error", reject)
          .end(new URLSearchParams({ email: "ada@example.com", password }).toString())
      })
      expect(status).toBe(403)
      expect(text).toContain("set the console's public address in <code>LARDER_CONSOLE_URL</code>")
      expect(text).not.toContain("evil")
    }
  )

  it("returns 400 for JSON and for a form of 70 kB", async () => {
    const { browser } = await site.signIn()
    const headers = { origin: site.url() }
    const json = { ...headers, "content-type": "application/json" }
    expect(
      (await browser.request("/keys/new", { method: "POST", headers: json, body: JSON.stringify(newKey) })).status
    ).toBe(400)
    const huge = new URLSearchParams({ ...newKey, more: "x".repeat(70_000) })
    expect((await browser.request("/keys/new", { method: "POST", headers, body: huge })).status).toBe(400)
  })

  it("returns 405 with the allowed methods for a page without a form", async () => {
    const { browser } = await site.signIn()
    const posted = await browser.post("/keys", newKey)
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"])
    const deleted = await browser.request("/keys/new", { method: "DELETE", headers: { origin: site.url() } })
    expect([deleted.status, deleted.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"])
  })
})

describe("every page", () => {
  const inline = /<style|<script(?![^>]* src=)|\son[a-z]+\s*=|\sstyle\s*=|javascript:/i

  it("has a strict content policy, links to no other host except the docs, and has nothing inline", async () => {
    const { browser } = await site.signIn({ is_operator: true })
    for (const path of [...paths, "/simulator", "/sign-in", "/nothing-here"]) {
      const { headers, text } = await browser.get(path)
      const policy = (headers.get("content-security-policy") ?? "").split("; ")
      expect(policy).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'"
      ])
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("referrer-policy")).toBe("same-origin")
      expect(headers.get("cache-control")).toBe("no-store")
      if (!headers.get("content-type")?.startsWith("text/html")) continue
      expect([path, inline.exec(text)?.[0]]).toEqual([path, undefined])
      const addresses = [...text.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address = ""]) => address)
      const foreignAddresses = addresses.filter((address) => !/^[/?#]/.test(address) || address.startsWith("//"))
      expect(foreignAddresses.filter((address) => address !== `${site.api()}/docs`)).toEqual([])
    }
  })

  it("has a language, a title, one main heading and a link past the navigation", async () => {
    const { browser } = await site.signIn({ is_operator: true })
    for (const path of ["/", "/keys", "/keys/new", "/account", "/nothing-here"]) {
      const { text } = await browser.get(path)
      expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
      expect(text).toMatch(/<title>[^<]+ – Larder<\/title>/)
      expect(text.match(/<h1[ >]/g)).toHaveLength(1)
      expect(text).toContain('<a class="skip" href="#content">')
    }
  })

  it("has status 404 and an explanation at an unknown address", async () => {
    const { browser } = await site.signIn()
    const unknown = await browser.get("/nothing-here")
    expect(unknown.status).toBe(404)
    expect(unknown.text).toContain("There is nothing at this address")
    expect((await site.openBrowser().get("/nothing-here")).status).toBe(404)
    expect((await site.openBrowser().get("/%zz")).status).toBe(404)
  })

  it("returns 404 to other people if it is for operators", async () => {
    const { browser } = await site.signIn()
    for (const { operatorsOnly, path } of pages.filter((page) => page.operatorsOnly)) {
      expect(operatorsOnly).toBe(true)
      expect([path, (await browser.get(fillPath(path))).status]).toEqual([path, 404])
    }
    for (const path of ["/simulator", "/simulator/payments/none"]) expect((await browser.get(path)).status).toBe(404)
    const { text } = await browser.get("/")
    expect(text).not.toContain('href="/data"')
    expect(text).not.toContain('href="/simulator"')
  })
})

describe("the webhook of the card processor", () => {
  const send = (body: string, headers: Record<string, string> = {}, path = "/webhooks/simulator") =>
    site
      .openBrowser()
      .request(path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } })

  it("rejects unsigned events with 400 and the reason, and an event of 1.1 MB with 413", async () => {
    const event = JSON.stringify({ id: "evt_1", type: "payment.succeeded", payment_id: "pay_x" })
    const { headers, status, text } = await send(event)
    expect([status, headers.get("content-type"), text]).toEqual([
      400,
      "text/plain; charset=utf-8",
      "The event has no signature.\n"
    ])
    const forged = { "simulator-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}` }
    expect((await send(event, forged)).status).toBe(400)
    expect((await send("x".repeat(1_100_000))).status).toBe(413)
    expect((await send("")).status).toBe(400)
  })

  it("returns 404 at every address except the processor's own", async () => {
    expect((await send("{}", { "stripe-signature": "t=1,v1=0" }, "/webhooks/stripe")).status).toBe(404)
    expect((await send("{}", {}, "/webhooks/anything")).status).toBe(404)
    expect((await site.openBrowser().get("/webhooks/simulator")).status).toBe(404)
  })
})

describe("assets", () => {
  it("may be cached by browsers for a year, because their addresses contain a content hash", async () => {
    const { text } = await site.openBrowser().get("/sign-in")
    const addresses = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, address = ""]) => address)
    expect(addresses).toHaveLength(3)
    for (const address of addresses) {
      const { headers, status } = await site.openBrowser().get(address)
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"])
      expect((await fetch(`${site.url()}${address}`, { method: "HEAD" })).status).toBe(200)
    }
  })
})

describe("behind https", () => {
  const address = "https://console.example.com"
  const secure = startOwnConsole({
    environment: { LARDER_CONSOLE_URL: address, LARDER_API_URL: "https://api.example.com" }
  })

  it("sets cookies only for https and this host, and accepts forms only from the public address", async () => {
    const account = await secure.createAccount()
    const browser = secure.openBrowser()
    const link = await secure.invite(account.id)
    const accepted = await browser.post(link, { email: "secure@example.com", password })
    expect(accepted.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-larder_session_console\.example\.com=[^;]+; Expires=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/
      ),
      expect.stringMatching(
        /^__Host-larder_browser_console\.example\.com=[^;]+; Expires=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/
      )
    ])
    expect(accepted.headers.get("strict-transport-security")).toBe("max-age=31536000")
    const created = await browser.submit("/keys/new", newKey)
    expect(created.text).toContain("https://api.example.com/v1/")
    expect(created.text).toContain('<a href="https://api.example.com/docs">Docs</a>')
    expect((await browser.post("/keys/new", newKey, { origin: secure.url() })).status).toBe(403)
  })
})
