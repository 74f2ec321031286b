/** Suspended accounts, over HTTP and with commands: every call is refused, on every server, until the account is resumed. */
import type { AccountSummary } from "@larder/serve/ledger"
import { describe, expect, it } from "vitest"
import { sendOnce } from "../support/api/client.ts"
import type { CreatedKey } from "../support/programs.ts"
import { site, sites } from "./site.ts"

describe.each(Object.keys(sites) as ReadonlyArray<keyof typeof sites>)("a suspended account on %s", (name) => {
  const { command, newKey, servers } = site(name)
  const call = async ({ key }: CreatedKey, target: string) => {
    const outcomes: Array<string> = []
    for (const { api } of servers()) {
      const { headers, json, status } = await sendOnce(api, target, { key })
      const { error } = json as { readonly error?: { readonly type: string; readonly message: string } }
      outcomes.push(
        error === undefined ? `${status}` : `${status} ${headers["x-error-code"]} ${error.type}: ${error.message}`
      )
    }
    return [...new Set(outcomes)]
  }
  const suspended = ["401", "account_suspended", "unauthorized: This account is suspended"].join(" ")

  it("gets 401 for every call, whatever its scope, parameters or record, and works again when it is resumed", async () => {
    const key = await newKey()
    const change = (action: "suspend" | "resume", note: string) =>
      command<AccountSummary>("accounts", action, "--account", key.account_id, "--note", note)
    expect(await call(key, "/v1/stores")).toEqual(["200"])
    const { suspended_at } = await change("suspend", "unpaid invoice 17")
    expect(suspended_at).toMatch(/Z$/)
    await command("keys", "edit", "--key", key.id, "--scopes", "get-commodity-prices")
    for (const target of ["/v1/stores", "/v1/stores?limt=1", "/v1/stores/none", "/v1/commodities/prices"]) {
      expect(await call(key, target)).toEqual([suspended])
    }
    const again = await change("suspend", "again")
    expect(again.suspended_at).toBe(suspended_at)
    const [listed] = (await command<ReadonlyArray<AccountSummary>>("accounts", "list")).filter(
      ({ id }) => id === key.account_id
    )
    expect(listed).toEqual(again)
    const resumed = await change("resume", "paid")
    expect(resumed).toEqual({ ...again, suspended_at: null })
    expect(await call(key, "/v1/stores")).toEqual([
      "403 scope_missing forbidden: This key is not scoped to search-stores"
    ])
    await command("keys", "edit", "--key", key.id, "--scopes", "all")
    expect(await call(key, "/v1/stores")).toEqual(["200"])
  })
})
