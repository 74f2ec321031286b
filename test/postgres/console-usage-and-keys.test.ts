/** What the console shows where its ledger is in PostgreSQL, and where only statements in its database can bring that about. */
import { Effect } from "effect"
import Papa from "papaparse"
import { describe, expect, it } from "vitest"
import { newKey } from "../console/key-forms.ts"
import { refundCharge } from "../ledger/shared-ledger.ts"
import { ask } from "../support/api/client.ts"
import { operate } from "../support/api/operator.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { useSharedConsole } from "../support/console/served-console.ts"
import { copyKeys } from "./copied-keys.ts"

const site = useSharedConsole()

describe("the file of usage", () => {
  it("leaves out an endpoint whose only call was refunded", async () => {
    const { browser } = await site.signIn()
    const key = findKey((await browser.post("/keys/new", newKey)).text)
    const endpoints = async () => {
      const { text } = await browser.get("/usage.csv")
      const { data } = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
      return data.map(({ endpoint }) => endpoint)
    }
    await ask(site.api(), "/v1/commodities?commodity=butter", { key })
    const { headers } = await ask(site.api(), "/v1/stores", { key })
    expect(await endpoints()).toEqual(["/v1/commodities", "/v1/stores"])
    const url = site.environment().LARDER_LEDGER_URL ?? ""
    await Effect.runPromise(refundCharge(url, String(headers["x-request-id"])))
    expect(await endpoints()).toEqual(["/v1/commodities"])
  })
})

describe("the 1,001st key of an account", () => {
  it("is rejected with 422 and what to do, and is created after another key is revoked", async () => {
    const { account, browser } = await site.signIn()
    await browser.post("/keys/new", newKey)
    await copyKeys(site.environment().LARDER_LEDGER_URL ?? "", account.id, 1_000)
    const form = { ...readHiddenFields((await browser.get("/keys/new")).text), ...newKey }
    const seen = await browser.post("/keys/new", form)
    expect(seen.status).toBe(422)
    expect(seen.text).toContain("No key was created: the account already has 1,000 keys that are not revoked")
    expect(seen.text).toContain(`value="${newKey.name}"`)
    const [one] = await operate(site.home(), ({ listKeys }) => listKeys({ account_id: account.id }))
    await browser.post(`/keys/${one?.id}/revoke`, {})
    expect(findKey((await browser.post("/keys/new", form)).text)).toBeDefined()
  })
})
