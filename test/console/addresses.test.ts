/** Where pages and links lead when no public address is set. A server of its own, with passwords at their full cost. */
import { rmSync } from "node:fs"
import { request } from "node:http"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { type Browser, makeBrowser } from "../support/console/browser.ts"
import { keyIn, password } from "../support/console/served-console.ts"
import { type Server, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

const newKey = { name: "Dashboard", access: "all", budget: "25" }
const portOf = (url: string) => new URL(url).port

/** The page as it is answered to who names this host: `fetch` would name the true one. */
const askedBy = (url: string, host: string) =>
  new Promise<{ readonly text: string; readonly headers: string }>((resolve, reject) => {
    request(url, { headers: { host } }, (answer) => {
      let text = ""
      answer.setEncoding("utf8").on("data", (piece) => {
        text += piece
      })
      answer.on("end", () => resolve({ text, headers: JSON.stringify(answer.headers) }))
    })
      .on("error", reject)
      .end()
  })

describe("a server on all interfaces of its machine", () => {
  let home = ""
  let server: Server | undefined
  let browser: Browser
  const running = () => {
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

  it("prints addresses and a first link that this machine can open, and warns that nothing is encrypted or paid", () => {
    const { api, console, first_link, logs, payments } = running()
    for (const url of [api, console]) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(first_link).toMatch(new RegExp(`^${console}/invitation/`))
    expect(payments).toBe("simulated")
    expect(logs()).toContain("Card payments are simulated: LARDER_STRIPE_KEY is not set")
    expect(logs()).toContain(`The console listens on http://0.0.0.0:${portOf(console)} without https`)
  })

  it.each(["127.0.0.2", "localhost"])(
    "links examples, docs and payments to %s for a visitor who came there",
    async (host) => {
      const at = `http://${host}:${portOf(running().console)}`
      const api = `http://${host}:${portOf(running().api)}`
      const browser = makeBrowser(at)
      expect((await browser.post("/sign-in", { email: "ada@example.com", password })).status).toBe(303)
      const { headers, text } = await browser.post("/keys/new", newKey)
      expect(keyIn(text)).toBeDefined()
      expect(text).toContain(`&quot;${api}/v1/`)
      expect(text).toContain(`<a href="${api}/docs">Docs</a>`)
      expect(text).toContain(`&quot;url&quot;: &quot;${api}/mcp&quot;`)
      expect(headers.get("content-security-policy")).toContain("form-action 'self';")
      const asked = await browser.post("/billing/top-up", { amount: "50.00", submission: host, pay_with: "new_card" })
      expect(asked.location).toMatch(new RegExp(`^${at}/simulator/checkout/`))
      expect((await browser.get(asked.location ?? "")).text).toContain(`${at}/billing`)
      expect(await (await fetch(`${api}/docs`)).text()).toContain(`href="${at}/"`)
    }
  )

  it("links the docs neither to a console nor to an API of a host that nobody configured", async () => {
    const { api } = running()
    for (const path of ["/docs", "/docs/reference", "/llms.txt"]) {
      const { headers, text } = await askedBy(`${api}${path}`, `evil.example:${portOf(api)}`)
      expect(text + headers).not.toContain("evil.example")
      if (path !== "/docs/reference") expect(text).toContain(`${api}/`)
    }
  })

  it.each([`evil"><script>alert(1)</script>`, "evil;script-src *", "$(touch evil)", "x@evil.example", "evil.example/"])(
    "refuses the invalid host %j, which appears in no answer and is no origin",
    async (host) => {
      const { api, console } = running()
      for (const address of [`${console}/`, `${console}/keys/new`, `${console}/sign-in`, `${api}/docs`]) {
        const { headers, text } = await askedBy(address, host)
        expect(text).toContain("The request must name one host")
        expect(text + headers).not.toContain("evil")
      }
      const forged = await browser.post("/keys/new", newKey, { origin: `http://${host}` })
      expect(forged.status).toBe(403)
    }
  )
})
