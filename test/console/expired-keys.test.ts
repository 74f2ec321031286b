import { expect, it } from "vitest"
import { makeFixedClock } from "../contract/conditions.ts"
import { administer } from "../support/api/operator.ts"
import { startOwnConsole } from "../support/console/served-console.ts"
import { newKey } from "./key-forms.ts"

const clock = makeFixedClock("2026-10-15T12:00:00.000Z")
const site = startOwnConsole({ environment: clock.environment })

it("an expired key is not replaced, and the console suggests a later expiry", async () => {
  const { account, browser } = await site.signIn()
  await browser.submit("/keys/new", { ...newKey, expires_at: "2026-10-15 13:00" })
  const [key] = await administer(site.home(), ({ listKeys }) => listKeys({ account_id: account.id }))
  const page = `/keys/${key?.id}/rotate`
  expect((await browser.get(page)).status).toBe(200)
  clock.set("2026-10-15T13:00:00.000Z")
  for (const request of [() => browser.get(page), () => browser.submit(page, { overlap: "1" }, "/keys")]) {
    expect((await request()).status).toBe(303)
    expect((await browser.get("/keys")).text).toContain("This key has expired, so nothing was changed.")
  }
})
