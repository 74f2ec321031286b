import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import { hasValidChecksum } from "@larder/serve/access/api-key.ts"
import { describe, expect, it } from "vitest"
import { admin, run } from "../programs.ts"
import { createKey, operate, statement } from "./operator.ts"
import { errorOf, served } from "./served.ts"

const api = served()
const revoked = "401 unauthorized: Unknown or revoked API key"
const target = "/v1/commodities?commodity=butter"

interface Key {
  readonly id: string
  readonly key: string
  readonly last4: string
}
const larderServe = (...args: ReadonlyArray<string>) => run("larder-serve", args, { LARDER_HOME: api.home() })
const account = async (name: string) =>
  (await admin<{ readonly id: string }>(api.home(), ["accounts", "create", "--name", name])).id
const create = (accountId: string, scopes: string, budget: string) =>
  admin<Key>(api.home(), [
    ...["keys", "create", "--account", accountId, "--name", "ci"],
    ...["--scopes", scopes, "--budget-usd", budget]
  ])

/** Every file under a folder that holds the text. */
const filesWith = (folder: string, text: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() && readFileSync(file).includes(text))

describe("accounts and keys by the command line", () => {
  it("work while the server runs: what they do is in force for the next request", async () => {
    const opened = await admin<Record<string, unknown>>(api.home(), ["accounts", "create", "--name", "Acme"])
    expect(opened).toMatchObject({ id: expect.stringMatching(/^\S+$/), name: "Acme", balance_credits: 5_000 })
    const accounts = await admin<ReadonlyArray<unknown>>(api.home(), ["accounts", "list"])
    expect(accounts).toContainEqual(opened)

    const id = String(opened.id)
    const created = await create(id, "search-commodities,get-product", "0.02")
    expect(created).toMatchObject({
      id: expect.any(String),
      key: expect.stringMatching(/^svc_data_[A-Za-z0-9]{64}$/),
      last4: created.key.slice(-4),
      name: "ci",
      scopes: ["search-commodities", "get-product"],
      budget_usd: 0.02,
      account_id: id
    })
    expect(hasValidChecksum(created.key)).toBe(true)

    const { key } = created
    expect((await api.get(target, { key })).headers["x-credits-remaining"]).toBe("10")
    expect((await api.get("/v1/stores", { key })).status).toBe(403)
    await admin(api.home(), [
      "keys",
      "edit",
      "--key",
      created.id,
      "--scopes",
      "all",
      "--budget-usd",
      "0.13",
      "--name",
      "new"
    ])
    expect((await api.get("/v1/stores", { key })).headers["x-credits-remaining"]).toBe("20")
    await admin(api.home(), ["accounts", "credit", "--account", id, "--usd", "10", "--note", "wire 4711"])

    const listed = await admin<ReadonlyArray<Record<string, unknown>>>(api.home(), ["keys", "list", "--account", id])
    expect(listed.length).toBe(1)
    expect(listed[0]).toMatchObject({
      id: created.id,
      name: "new",
      last4: created.last4,
      budget_usd: 0.13,
      account_id: id
    })
    expect(JSON.stringify(listed)).not.toContain(key)

    const exported = await larderServe("ledger", "export", "--account", id, "--json")
    const entries = exported.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(
      entries.map(({ balance, credits, endpoint, key_id, type }) => [type, credits, balance, key_id, endpoint])
    ).toEqual([
      ["grant", 5_000, 5_000, null, null],
      ["charge", -10, 4_990, created.id, "/v1/commodities"],
      ["charge", -100, 4_890, created.id, "/v1/stores"],
      ["adjustment", 10_000, 14_890, null, null]
    ])

    await admin(api.home(), ["keys", "revoke", "--key", created.id])
    expect(errorOf(await api.get(target, { key }))).toBe(revoked)
  })

  it("work while it does not, and hold after the next start", async () => {
    let paused: Key | undefined
    await api.restart(async () => {
      paused = await create(await account("Offline"), "all", "0")
    })
    expect(errorOf(await api.get(target, { key: paused?.key }))).toBe(
      "402 insufficient_balance: Monthly spend cap reached"
    )
  })

  it("tell what is wrong: 1 for a failure, 2 for usage, and nothing on stdout", async () => {
    const ended = await Promise.all([
      larderServe("ledger", "export", "--account", "acct_none", "--json"),
      larderServe("keys", "revoke", "--key", "key_none", "--json"),
      larderServe("keys", "create", "--account", "a", "--name", "n", "--scopes", "everything", "--budget-usd", "1"),
      larderServe("nonsense")
    ])
    expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual([
      [1, ""],
      [1, ""],
      [2, ""],
      [2, ""]
    ])
    expect(ended[0]?.stderr).toContain("There is no account acct_none")
    expect(ended[1]?.stderr).toContain("There is no key key_none")
    expect(ended[2]?.stderr).toContain("everything")
  })
})

describe("a key is kept nowhere", () => {
  it("not in the ledger or any other file, not in a log, an answer or a metric, before and after a restart", async () => {
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
    const nowhere = async () => {
      for (const { headers, text } of replies) expect(JSON.stringify(headers) + text).not.toContain(secret)
      expect(api.server().logs()).not.toContain(secret)
      expect(await (await fetch(`${api.server().console}/metrics`)).text()).not.toContain(secret)
      const listed = await operate(api.home(), (ledger) => ledger.listKeys({ account_id }))
      expect(listed.map(({ id, last4 }) => [id, last4])).toEqual([[id, key.slice(-4)]])
      expect(JSON.stringify([listed, await statement(api.home(), account_id)])).not.toContain(secret)
      expect(filesWith(api.home(), secret)).toEqual([])
      // The search finds what is kept: the fingerprint.
      expect(filesWith(api.home(), createHash("sha256").update(key).digest("hex"))).not.toEqual([])
    }
    await nowhere()
    await operate(api.home(), (ledger) => ledger.revokeKey({ key_id: id }))
    await api.restart()
    await nowhere()
    expect(errorOf(await api.get(target, { key }))).toBe(revoked)
  })
})
