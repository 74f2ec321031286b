import { request } from "node:http"
import { pages } from "@larder/serve/console"
import { beforeAll, describe, expect, it } from "vitest"
import { administer } from "../support/api/operator.ts"
import { keyIn, password, servedConsole, servedConsoleAlone } from "../support/console/served-console.ts"

const site = servedConsole()
const newKey = { name: "Dashboard", access: "all", budget: "25" }

/** Every path, with something in its places. */
const paths = pages.map(({ path }) => path.replace(/:\w+/g, "none"))
const forms = [
  ...pages.flatMap(({ path, post }) => (post === undefined ? [] : [path.replace(/:\w+/g, "none")])),
  "/sign-in",
  "/sign-out",
  `/invitation/${"A".repeat(43)}`,
  "/simulator",
  "/simulator/payments/none",
  "/simulator/checkout/none"
]

const foreign: ReadonlyArray<readonly [what: string, headers: () => Record<string, string>]> = [
  ["without an Origin", () => ({})],
  ["of another site", () => ({ origin: "https://evil.example" })],
  ["of another port of this host", () => ({ origin: "http://127.0.0.1:1" })],
  ["of a longer host", () => ({ origin: `${site.url()}.evil.example` })],
  ["of an opaque origin", () => ({ origin: "null" })],
  ["that the browser calls cross-site", () => ({ origin: site.url(), "sec-fetch-site": "cross-site" })],
  ["that the browser calls same-site", () => ({ origin: site.url(), "sec-fetch-site": "same-site" })]
]

describe("forms", () => {
  let operator: Awaited<ReturnType<typeof site.signedIn>>
  beforeAll(async () => {
    operator = await site.signedIn({ is_operator: true })
  })
  it.each(foreign)("rejects a form %s on every page with 403, and changes nothing", async (_what, headers) => {
    const { account, browser } = operator
    const session = browser.cookies.get("larder_session")
    for (const path of forms) {
      const { status, text } = await browser.post(path, { ...newKey, current: password, next: "x" }, headers())
      expect([path, status]).toEqual([path, 403])
      expect(text).toContain("This form was not sent from the console itself")
    }
    expect(await administer(site.home(), (ledger) => ledger.listKeys({ account_id: account.id }))).toEqual([])
    expect(browser.cookies.get("larder_session")).toBe(session)
    expect((await browser.get("/account")).status).toBe(200)
  })

  it("takes a form from the console itself, and rejects one from another name of this machine", async () => {
    const { browser } = await site.signedIn()
    const port = new URL(site.url()).port
    const sent = await browser.post("/keys/new", newKey, { origin: site.url(), "sec-fetch-site": "same-origin" })
    expect(keyIn(sent.text)).toBeDefined()
    const refused = await browser.post("/keys/new", newKey, { origin: `http://localhost:${port}` })
    expect(refused.status).toBe(403)
  })

  it.each(["evil.example", "evil.example:8081", "localhost.evil.example"])(
    "rejects a form of a page at %s that leads to this machine, and names LARDER_CONSOLE_URL",
    async (host) => {
      const { hostname, port } = new URL(site.url())
      const headers = { host, origin: `http://${host}`, "content-type": "application/x-www-form-urlencoded" }
      const [status, text] = await new Promise<readonly [number | undefined, string]>((resolve, reject) => {
        request({ hostname, port, path: "/sign-in", method: "POST", headers }, async (answer) => {
          resolve([answer.statusCode, (await answer.setEncoding("utf8").toArray()).join("")])
        })
          .on("error", reject)
          .end(new URLSearchParams({ email: "ada@example.com", password }).toString())
      })
      expect(status).toBe(403)
      expect(text).toContain("set the console's public address in <code>LARDER_CONSOLE_URL</code>")
      expect(text).not.toContain("evil")
    }
  )

  it("answers 400 to JSON and to a form of 70 kB", async () => {
    const { browser } = await site.signedIn()
    const headers = { origin: site.url() }
    const json = { ...headers, "content-type": "application/json" }
    expect(
      (await browser.ask("/keys/new", { method: "POST", headers: json, body: JSON.stringify(newKey) })).status
    ).toBe(400)
    const huge = new URLSearchParams({ ...newKey, more: "x".repeat(70_000) })
    expect((await browser.ask("/keys/new", { method: "POST", headers, body: huge })).status).toBe(400)
  })

  it("answers 405 with the allowed methods on a page without a form", async () => {
    const { browser } = await site.signedIn()
    const seen = await browser.post("/keys", newKey)
    expect([seen.status, seen.headers.get("allow")]).toEqual([405, "GET, HEAD"])
    const deleted = await browser.ask("/keys/new", { method: "DELETE", headers: { origin: site.url() } })
    expect([deleted.status, deleted.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"])
  })
})

describe("every page", () => {
  const inline = /<style|<script(?![^>]* src=)|\son[a-z]+\s*=|\sstyle\s*=|javascript:/i

  it("has a strict policy, names no other host but that of the docs, and has nothing inline", async () => {
    const { browser } = await site.signedIn({ is_operator: true })
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
      const loaded = [...text.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address = ""]) => address)
      const others = loaded.filter((address) => !/^[/?#]/.test(address) || address.startsWith("//"))
      expect(others.filter((address) => address !== `${site.api()}/docs`)).toEqual([])
    }
  })

  it("has a language, a title, one main heading and a way past the navigation", async () => {
    const { browser } = await site.signedIn({ is_operator: true })
    for (const path of ["/", "/keys", "/keys/new", "/account", "/nothing-here"]) {
      const { text } = await browser.get(path)
      expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
      expect(text).toMatch(/<title>[^<]+ – Larder<\/title>/)
      expect(text.match(/<h1[ >]/g)).toHaveLength(1)
      expect(text).toContain('<a class="skip" href="#content">')
    }
  })

  it("is a 404 page when the address is unknown", async () => {
    const { browser } = await site.signedIn()
    const seen = await browser.get("/nothing-here")
    expect(seen.status).toBe(404)
    expect(seen.text).toContain("There is nothing at this address")
    expect((await site.browser().get("/nothing-here")).status).toBe(404)
    expect((await site.browser().get("/%zz")).status).toBe(404)
  })

  it("answers 404 to other people when it is for operators", async () => {
    const { browser } = await site.signedIn()
    for (const { operatorsOnly, path } of pages.filter((page) => page.operatorsOnly)) {
      expect(operatorsOnly).toBe(true)
      expect([path, (await browser.get(path.replace(/:\w+/g, "none"))).status]).toEqual([path, 404])
    }
    for (const path of ["/simulator", "/simulator/payments/none"]) expect((await browser.get(path)).status).toBe(404)
    const { text } = await browser.get("/")
    expect(text).not.toContain('href="/data"')
    expect(text).not.toContain('href="/simulator"')
  })
})

describe("events of the card processor", () => {
  const send = (body: string, headers: Record<string, string> = {}, path = "/webhooks/simulator") =>
    site.browser().ask(path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } })

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

  it("answers 404 at any address but that of the processor in use", async () => {
    expect((await send("{}", { "stripe-signature": "t=1,v1=0" }, "/webhooks/stripe")).status).toBe(404)
    expect((await send("{}", {}, "/webhooks/anything")).status).toBe(404)
    expect((await site.browser().get("/webhooks/simulator")).status).toBe(404)
  })
})

describe("assets", () => {
  it("lets browsers keep assets for a year, since their address changes with them", async () => {
    const { text } = await site.browser().get("/sign-in")
    const addresses = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, address = ""]) => address)
    expect(addresses).toHaveLength(3)
    for (const address of addresses) {
      const { headers, status } = await site.browser().get(address)
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"])
    }
  })
})

describe("behind https", () => {
  const address = "https://console.example.com"
  const secure = servedConsoleAlone({
    environment: { LARDER_CONSOLE_URL: address, LARDER_API_URL: "https://api.example.com" }
  })

  it("sets cookies for https and this host only, and takes forms from the public address only", async () => {
    const account = await secure.newAccount()
    const browser = secure.browser()
    const link = await secure.invite(account.id)
    const accepted = await browser.post(link, { email: "secure@example.com", password })
    expect(accepted.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-larder_session=[^;]+; Expires=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
      expect.stringMatching(/^__Host-larder_browser=[^;]+; Expires=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    ])
    expect(accepted.headers.get("strict-transport-security")).toBe("max-age=31536000")
    const created = await browser.post("/keys/new", newKey)
    expect(created.text).toContain("https://api.example.com/v1/")
    expect(created.text).toContain('<a href="https://api.example.com/docs">Docs</a>')
    expect((await browser.post("/keys/new", newKey, { origin: secure.url() })).status).toBe(403)
  })
})
