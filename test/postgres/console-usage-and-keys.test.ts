/** Pages of a console with a ledger in PostgreSQL, in states that only statements in its database can create. */
import { Effect } from "effect"
import Papa from "papaparse"
import { describe, expect, it } from "vitest"
import { newKey } from "../console/key-forms.ts"
import { refundCharge } from "../ledger/shared-ledger.ts"
import { sendOnce } from "../support/api/client.ts"
import { administer } from "../support/api/operator.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { useSharedConsole } from "../support/console/served-console.ts"
import { copyKeys } from "./copied-keys.ts"

const site = useSharedConsole()

describe("the file of usage", () => {
  it("omits an endpoint whose only call was refunded", async () => {
    const { browser } = await site.signIn()
    const key = findKey((await browser.submit("/keys/new", newKey)).text)
    const endpoints = async () => {
      const { text } = await browser.get("/usage.csv")
      const { data } = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
      return data.map(({ endpoint }) => endpoint)
    }
    await sendOnce(site.api(), "/v1/commodities?commodity=butter", { key })
    const { headers } = await sendOnce(site.api(), "/v1/stores", { key })
    expect(await endpoints()).toEqual(["/v1/commodities", "/v1/stores"])
    const url = site.environment().LARDER_LEDGER_URL ?? ""
    await Effect.runPromise(refundCharge(url, String(headers["x-request-id"])))
    expect(await endpoints()).toEqual(["/v1/commodities"])
  })
})

describe("the 1,001st key of an account", () => {
  it("is rejected with 422 and advice, and is created after another key is revoked", async () => {
    const { account, browser } = await site.signIn()
    await browser.submit("/keys/new", newKey)
    await copyKeys(site.environment().LARDER_LEDGER_URL ?? "", account.id, 1_000)
    const form = { ...readHiddenFields((await browser.get("/keys/new")).text), ...newKey }
    const page = await browser.post("/keys/new", form)
    expect(page.status).toBe(422)
    expect(page.text).toContain("No key was created: the account already has 1,000 keys that are not revoked")
    expect(page.text).toContain(`value="${newKey.name}"`)
    const [key] = await administer(site.home(), ({ listKeys }) => listKeys({ account_id: account.id }))
    await browser.submit(`/keys/${key?.id}/revoke`)
    expect(findKey((await browser.post("/keys/new", form)).text)).toBeDefined()
  })
})
