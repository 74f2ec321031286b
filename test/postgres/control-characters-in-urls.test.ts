/** URLs that no page links to, with PostgreSQL, which accepts fewer characters than SQLite. */
import { isTemporary } from "@larder/serve/console/web/error-pages.ts"
import { LedgerUnavailable } from "@larder/serve/ledger"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { startOwnConsole } from "../support/console/served-console.ts"
import { consoleDatabases } from "../support/serve/console-databases.ts"

describe("a URL with a control character", () => {
  const site = startOwnConsole()

  it("returns 404, and the log reports no outage", async () => {
    const { browser } = await site.signIn()
    for (const target of [
      "/requests?before=2026-11-22T00:00:00.000Z~%00",
      "/requests?request=req_%00",
      "/billing/payments?before=%00",
      "/billing/payments/%00",
      "/billing/payments/%00/receipt",
      "/billing/payments/a%1Fb",
      "/keys/%7f",
      "/usage?from=%0A2026-01-01"
    ]) {
      const { status, text } = await browser.get(target)
      expect([target, status]).toEqual([target, 404])
      expect(text).toContain("Page not found")
    }
    expect(site.logs()).not.toMatch(/cannot be used|a page of the console failed/)
  })

  it("returns 404 even without a sign-in", async () => {
    expect((await site.openBrowser().get("/requests?before=%00")).status).toBe(404)
  })

  it("differs from an escaped percent sign (%2500), which returns 200", async () => {
    const { browser } = await site.signIn()
    expect((await browser.get("/requests?request=%2500")).status).toBe(200)
  })
})

describe("a failure of a page", () => {
  it("is not an outage when PostgreSQL refuses a value", async () => {
    const refused = Effect.gen(function* () {
      const { layer } = yield* consoleDatabases.PostgreSQL
      const query = ConsoleDatabase.use((database) =>
        database.all(Schema.Struct({ text: Schema.String }), "select $1::text as text", ["\0"])
      )
      return yield* Effect.flip(Effect.provide(query, layer))
    })
    const error = await Effect.runPromise(Effect.scoped(refused))
    expect(String(error)).toContain("invalid byte sequence")
    expect(isTemporary(error)).toBe(false)
  })

  it("is an outage when the database cannot be reached", () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })
    expect(isTemporary(new LedgerUnavailable({ action: "be read", cause }))).toBe(true)
  })
})
