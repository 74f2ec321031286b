/** A change by a command applies to the next call on each of two servers: the shared one and a second one. */
import type { NewKey } from "@larder/serve/ledger"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { sendOnce } from "../support/api/client.ts"
import { admin, type CreatedKey, newKey as newKeyIn, type Server, startServer } from "../support/programs.ts"

describe("a command on a ledger that two servers share", () => {
  const { api, environment, home } = inject("sharedServer")
  const { LARDER_LEDGER_URL = "" } = environment
  const command = <A>(...args: ReadonlyArray<string>) => admin<A>(home, args, { LARDER_LEDGER_URL })
  const newKey = () => newKeyIn(home, { environment: { LARDER_LEDGER_URL } })
  let second: Server
  beforeAll(async () => {
    second = await startServer(home, environment)
  })
  afterAll(() => second?.stop())
  const servers = () => [{ api }, second]

  const call = async (api: string, { key }: CreatedKey, target = "/v1/stores") => {
    const { json, status } = await sendOnce(api, target, { key })
    const { error } = json as { readonly error?: { readonly message: string } }
    return error === undefined ? String(status) : `${status} ${error.message}`
  }
  const callOnBoth = async (key: CreatedKey, target?: string) => {
    const outcomes: Array<string> = []
    for (const { api } of servers()) outcomes.push(await call(api, key, target))
    return outcomes
  }

  it("creates a key that works on both servers immediately", async () => {
    const key = await newKey()
    expect(await callOnBoth(key)).toEqual(["200", "200"])
  })

  it("removes a scope and adds it again, on both servers immediately", async () => {
    const key = await newKey()
    expect(await callOnBoth(key)).toEqual(["200", "200"])
    await command("keys", "edit", "--key", key.id, "--scopes", "get-commodity-prices")
    const refused = "403 This key is not scoped to search-stores"
    expect(await callOnBoth(key)).toEqual([refused, refused])
    await command("keys", "edit", "--key", key.id, "--scopes", "all")
    expect(await callOnBoth(key)).toEqual(["200", "200"])
  })

  it("lowers a budget and raises it, on both servers immediately", async () => {
    const key = await newKey()
    expect(await callOnBoth(key)).toEqual(["200", "200"])
    await command("keys", "edit", "--key", key.id, "--budget-usd", "0.299")
    const refused = "402 Monthly spend cap reached"
    expect(await callOnBoth(key)).toEqual([refused, refused])
    await command("keys", "edit", "--key", key.id, "--budget-usd", "0.3")
    expect(await callOnBoth(key)).toEqual(["200", refused]) // for one more call
  })

  it("adds credits to an account that has none, on both servers immediately", async () => {
    const key = await newKey()
    for (let number = 0; number < 25; number++) expect(await callOnBoth(key)).toEqual(["200", "200"])
    const refused = "402 Insufficient balance"
    expect(await callOnBoth(key)).toEqual([refused, refused])
    await command("accounts", "credit", "--account", key.account_id, "--usd", "0.1", "--note", "one more")
    expect(await callOnBoth(key)).toEqual(["200", refused])
    await command("accounts", "credit", "--account", key.account_id, "--usd", "0.2", "--note", "two more")
    expect(await callOnBoth(key)).toEqual(["200", "200"])
  })

  it("revokes a key under load, and every call that begins afterwards gets 401", async () => {
    const key = await newKey()
    await command("accounts", "credit", "--account", key.account_id, "--usd", "1000", "--note", "load")
    let isRevoked = false
    let isDone = false
    const before = new Set<string>()
    const after: Array<string> = []
    const caller = async (api: string) => {
      while (!isDone) {
        const isAfterRevocation = isRevoked
        const outcome = await call(api, key)
        if (isAfterRevocation) after.push(outcome)
        else before.add(outcome)
      }
    }
    const callers = Array.from({ length: 8 }, () => servers().map(({ api }) => caller(api))).flat()
    await expect.poll(() => before).toContain("200")
    expect((await command<NewKey>("keys", "revoke", "--key", key.id)).revoked_at).not.toBeNull()
    isRevoked = true
    const revoked = "401 Unknown or revoked API key"
    expect(await callOnBoth(key)).toEqual([revoked, revoked])
    isDone = true
    await Promise.all(callers)
    expect(new Set(after)).toEqual(new Set([revoked]))
  })
})
