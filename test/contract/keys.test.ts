import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import { scopes } from "@larder/schemas"
import type { NewKey } from "@larder/serve/ledger"
import { hasValidChecksum } from "@larder/serve/ledger/api-key.ts"
import { describe, expect, it } from "vitest"
import { administer, createKey, listEntries } from "../support/api/operator.ts"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { admin } from "../support/programs.ts"
import { makeFixedClock } from "./conditions.ts"

const clock = makeFixedClock("2031-01-15T12:00:00.000Z") // budgets are counted per month
const api = startOwnServer({ environment: clock.environment })
const revoked = "401 unauthorized: Unknown or revoked API key"
const target = "/v1/commodities?commodity=butter"

interface Key {
  readonly id: string
  readonly key: string
  readonly last4: string
}
/** Runs a command of `larder-serve`, written as in a terminal; no argument contains a space. */
const command = <A>(line: string): Promise<A> => admin<A>(api.home(), line.split(" "))

/** Every file below a folder that contains the text. */
const findFiles = (folder: string, text: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() && readFileSync(file).includes(text))

describe("accounts and keys on the command line", () => {
  it("can be changed while the server runs, with effect on the next request", async () => {
    const opened = await command<Record<string, unknown>>("accounts create --name Acme")
    const id = String(opened.id)
    expect(opened).toMatchObject({ id: expect.stringMatching(/^\S+$/), name: "Acme", balance_credits: 5_000 })
    expect(await command("accounts list")).toContainEqual(opened)

    const limits = "--name ci --scopes search-commodities,get-product --budget-usd 0.02"
    const created = await command<Key>(`keys create --account ${id} ${limits}`)
    const { key, last4 } = created
    expect(created).toMatchObject({
      id: expect.any(String),
      key: expect.stringMatching(/^svc_data_[A-Za-z0-9]{64}$/),
      last4: key.slice(-4),
      name: "ci",
      scopes: ["search-commodities", "get-product"],
      budget_usd: 0.02,
      account_id: id
    })
    expect(hasValidChecksum(key)).toBe(true)
    expect((await api.get(target, { key })).headers["x-credits-remaining"]).toBe("10")
    expect((await api.get("/v1/stores", { key })).status).toBe(403)

    await command(`keys edit --key ${created.id} --scopes all --budget-usd 0.13 --name wide`)
    expect((await api.get("/v1/stores", { key })).headers["x-credits-remaining"]).toBe("20")
    await command(`accounts credit --account ${id} --usd 10 --note wire-4711`)

    const listed = await command<ReadonlyArray<unknown>>(`keys list --account ${id}`)
    const edited = { id: created.id, name: "wide", scopes, budget_usd: 0.13, last4, account_id: id }
    expect(listed).toEqual([expect.objectContaining(edited)])
    expect(JSON.stringify(listed)).not.toContain(key)

    const entry = (type: string, credits: number, balance: number, others: object = { key_id: null, endpoint: null }) =>
      expect.objectContaining({ type, credits, balance, ...others })
    expect(await listEntries(api.home(), id)).toEqual([
      entry("grant", 5_000, 5_000),
      entry("charge", -10, 4_990, { key_id: created.id, endpoint: "/v1/commodities" }),
      entry("charge", -100, 4_890, { key_id: created.id, endpoint: "/v1/stores" }),
      entry("adjustment", 10_000, 14_890)
    ])

    await command(`keys revoke --key ${created.id}`)
    expect(formatError(await api.get(target, { key }))).toBe(revoked)
  })
})

describe("a restart", () => {
  const monthlyCap = "402 insufficient_balance: Monthly spend cap reached"
  const readRemaining = async (path: string, { key }: NewKey) =>
    Number((await api.get(path, { key })).headers["x-credits-remaining"])

  it("keeps balances, spent budgets and changes of keys, and no file, log or metric contains the text of a key", async () => {
    const unlimited = await createKey(api.home())
    const limited = await createKey(api.home(), { account: unlimited.account_id, budget: 30 })
    const spent = await createKey(api.home(), { budget: 20 })
    clock.set("2031-01-31T12:00:00.000Z")
    for (const expected of [10, 0]) expect(await readRemaining(target, spent)).toBe(expected)
    clock.set("2031-02-01T00:00:00.000Z") // a new month
    for (const expected of [20, 10, 0]) expect(await readRemaining(target, limited)).toBe(expected)
    await api.get("/v1/stores", { key: unlimited.key })
    expect(await readRemaining(target, spent)).toBe(10)

    const { account_id, id, key } = await createKey(api.home(), { scopes: ["search-commodities"], budget: 20 })
    const replies = [
      await api.get(target, { key }),
      await api.get("/v1/stores", { key }),
      await api.get("/v1/commodities?limit=0", { key }),
      await api.get(target, { key: `${key} ` }),
      await api.get(target, { key: `${key}x` }),
      await api.get(target, { key: key.replace("svc_data_", "svc_date_") }),
      await api.get(target, { key })
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 403, 400, 200, 401, 401, 402])

    const secret = key.slice("svc_data_".length)
    const expectNoSecret = async () => {
      for (const { headers, text } of replies) expect(JSON.stringify(headers) + text).not.toContain(secret)
      expect(api.server().logs()).not.toContain(secret)
      expect(await (await fetch(`${api.server().console}/metrics`)).text()).not.toContain(secret)
      const listed = await administer(api.home(), (ledger) => ledger.listKeys({ account_id }))
      expect(listed.map(({ id, last4 }) => [id, last4])).toEqual([[id, key.slice(-4)]])
      expect(JSON.stringify([listed, await listEntries(api.home(), account_id)])).not.toContain(secret)
      expect(findFiles(api.home(), secret)).toEqual([])
      // the search works: it finds the stored fingerprint
      expect(findFiles(api.home(), createHash("sha256").update(key).digest("hex"))).not.toEqual([])
    }
    await expectNoSecret()
    await administer(api.home(), (ledger) => ledger.revokeKey({ key_id: id }))
    let paused = "" // created while no server runs
    await api.restart(async () => {
      paused = (await createKey(api.home(), { budget: 0 })).key
    })
    await expectNoSecret()
    expect(formatError(await api.get(target, { key }))).toBe(revoked)
    expect(formatError(await api.get(target, { key: paused }))).toBe(monthlyCap)
    expect(formatError(await api.get(target, { key: limited.key }))).toBe(monthlyCap)
    expect(await readRemaining(target, unlimited)).toBe(5_000 - 30 - 100 - 10)
    expect(await readRemaining(target, spent)).toBe(0)
    expect(formatError(await api.get(target, { key: spent.key }))).toBe(monthlyCap)
  })
})

describe("a rotated key", () => {
  it("is accepted with both secrets until the overlap ends, then only with the new one", async () => {
    clock.set("2031-03-05T12:00:00.000Z")
    const former = await createKey(api.home(), { budget: 40 })
    const rotated = await command<Key>(`keys rotate --key ${former.id} --overlap 12`)
    const readStatuses = async () => {
      const replies = [await api.get(target, { key: former.key }), await api.get(target, { key: rotated.key })]
      return replies.map(({ status }) => status)
    }
    expect(await readStatuses()).toEqual([200, 200])
    clock.set("2031-03-06T00:00:00.000Z")
    expect(await readStatuses()).toEqual([401, 200])
    expect(await readStatuses()).toEqual([401, 200])
    expect(formatError(await api.get(target, { key: rotated.key }))).toBe(
      "402 insufficient_balance: Monthly spend cap reached"
    )
  })
})

describe("a key that expires", () => {
  it("is refused like an unknown key after its expiry, without a charge, until the expiry is postponed", async () => {
    clock.set("2031-03-01T00:00:00.000Z")
    const { id } = await command<{ readonly id: string }>("accounts create --name Expiring")
    const settings = "--name k --scopes all --budget-usd 1 --expires-at 2031-03-02T00:00:00Z"
    const { key, id: keyId } = await command<Key>(`keys create --account ${id} ${settings}`)
    const call = async () => formatError(await api.get(target, { key }))
    expect((await api.get(target, { key })).status).toBe(200)
    clock.set("2031-03-01T23:59:59.999Z")
    expect((await api.get(target, { key })).status).toBe(200)
    clock.set("2031-03-02T00:00:00.000Z")
    expect(await call()).toBe(revoked)
    expect(formatError(await api.get("/v1/commodities?limit=0", { key }))).toBe(revoked)
    expect((await listEntries(api.home(), id)).map(({ credits }) => credits)).toEqual([5_000, -10, -10])
    await command(`keys edit --key ${keyId} --expires-at never`)
    expect((await api.get(target, { key })).status).toBe(200)
  })
})
