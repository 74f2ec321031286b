/** The page for a forgotten password on servers without a mail server. */
import { describe, expect, it } from "vitest"
import { useSharedConsole } from "../support/console/served-console.ts"
import { startSpendingConsole } from "../support/console/spending-console.ts"

const email = "ada@example.com"
const path = "/forgot-password"

describe("a server without a mail server", () => {
  const local = useSharedConsole()
  const remote = startSpendingConsole()

  it("says on the page that links are printed if only this machine reaches it", async () => {
    const browser = local.openBrowser()
    expect((await browser.get("/sign-in")).text).toContain(`<a href="${path}">Forgot your password?</a>`)
    const { status, text } = await browser.post(path, { email })
    expect([status, text.includes("it has printed a link where it was started")]).toEqual([200, true])
    expect((await browser.post(path, { email: "ada" })).status).toBe(422)
  })

  it("says otherwise that it sends no mail", async () => {
    const browser = remote.openBrowser()
    for (const { text } of [await browser.get(path), await browser.post(path, { email })]) {
      expect(text).toContain("This server sends no mail.")
    }
  })

  it("delays many requests from one network with 429", async () => {
    const browser = local.openBrowser()
    const statuses = new Set<number>()
    for (let attempt = 0; attempt < 8; attempt++) {
      const { headers, status } = await browser.post(path, { email: "often@example.com" })
      statuses.add(status)
      expect(headers.has("retry-after")).toBe(status === 429)
    }
    expect(statuses).toEqual(new Set([200, 429]))
  })
})
