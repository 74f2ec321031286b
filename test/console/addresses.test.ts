/** Addresses in pages and links when no public address is set. The server hashes passwords at their full cost. */
import { rmSync } from "node:fs"
import { request } from "node:http"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { type Browser, makeBrowser } from "../support/console/browser.ts"
import { findKey } from "../support/console/pages.ts"
import { password } from "../support/console/served-console.ts"
import { type Server, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

const newKey = { name: "Dashboard", access: "all", budget: "25" }
const readPort = (url: string) => new URL(url).port

/** Requests a page with this Host header; `fetch` always sends the real host. */
const requestAsHost = (url: string, host: string) =>
  new Promise<{ readonly text: string; readonly headers: string }>((resolve, reject) => {
    request(url, { headers: { host } }, async (response) => {
      const text = (await response.setEncoding("utf8").toArray()).join("")
      resolve({ text, headers: JSON.stringify(response.headers) })
    })
      .on("error", reject)
      .end()
  })

describe("a server that listens on all interfaces", () => {
  let home = ""
  let server: Server | undefined
  let browser: Browser
  const requireServer = () => {
    if (server === undefined) throw new Error("the server is started by beforeAll")
    return server
  }
  beforeAll(async () => {
    home = copyHome(inject("sampleHome"))
    server = await startServer(home, { LARDER_HOST: "0.0.0.0" }, ["--demo"])
    const link = new URL(server.first_link ?? "")
    browser = makeBrowser(server.console)
    await browser.post(link.pathname, { email: "ada@example.com", password })
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  it("prints addresses and a first link for this machine, and warns about missing encryption and simulated payments", () => {
    const { api, console, first_link, logs, payments } = requireServer()
    for (const url of [api, console]) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(first_link).toMatch(new RegExp(`^${console}/invitation/`))
    expect(payments).toBe("simulated")
    expect(logs()).toContain("Card payments are simulated: LARDER_STRIPE_KEY is not set")
    expect(logs()).toContain(`The console listens on http://0.0.0.0:${readPort(console)} without https`)
  })

  it.each(["127.0.0.2", "localhost"])(
    "uses %s in examples and in links to docs and payments for visitors at that host",
    async (host) => {
      const origin = `http://${host}:${readPort(requireServer().console)}`
      const api = `http://${host}:${readPort(requireServer().api)}`
      const browser = makeBrowser(origin)
      expect((await browser.post("/sign-in", { email: "ada@example.com", password })).status).toBe(303)
      const { headers, text } = await browser.submit("/keys/new", newKey)
      expect(findKey(text)).toBeDefined()
      expect(text).toContain(`&quot;${api}/v1/`)
      expect(text).toContain(`<a href="${api}/docs">Docs</a>`)
      expect(text).toContain(`&quot;url&quot;: &quot;${api}/mcp&quot;`)
      expect(text.includes("--allow-http"), "mcp-remote refuses plain HTTP elsewhere").toBe(host !== "localhost")
      expect(headers.get("content-security-policy")).toContain("form-action 'self';")
      const topUp = await browser.submit("/billing/top-up", { amount: "50.00", submission: host, pay_with: "new_card" })
      expect(topUp.location).toMatch(new RegExp(`^${origin}/simulator/checkout/`))
      expect((await browser.get(topUp.location ?? "")).text).toContain(`${origin}/billing`)
      expect(await (await fetch(`${api}/docs`)).text()).toContain(`href="${origin}/"`)
    }
  )

  it("uses no unconfigured host in links from the docs to the console or the API", async () => {
    const { api } = requireServer()
    for (const path of ["/docs", "/docs/reference", "/llms.txt"]) {
      const { headers, text } = await requestAsHost(`${api}${path}`, `evil.example:${readPort(api)}`)
      expect(text + headers).not.toContain("evil.example")
      if (path !== "/docs/reference") expect(text).toContain(`${api}/`)
    }
  })

  it.each([`evil"><script>alert(1)</script>`, "evil;script-src *", "$(touch evil)", "x@evil.example", "evil.example/"])(
    "rejects the invalid host %j, never repeats it, and does not accept it as an origin",
    async (host) => {
      const { api, console } = requireServer()
      for (const address of [`${console}/`, `${console}/keys/new`, `${console}/sign-in`, `${api}/docs`]) {
        const { headers, text } = await requestAsHost(address, host)
        expect(text).toContain("The request must name one host")
        expect(text + headers).not.toContain("evil")
      }
      const forged = await browser.post("/keys/new", newKey, { origin: `http://${host}` })
      expect(forged.status).toBe(403)
    }
  )
})
