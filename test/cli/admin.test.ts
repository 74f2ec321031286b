/** The administrative commands, with and without a running server. */
import { spawn } from "node:child_process"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"
import { scopes } from "@larder/schemas"
import { openEmbeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { Effect } from "effect"
import { useLarderHome } from "./larder.ts"

const { json, larder, ledgerFolder, startServer, startServerProcess } = useLarderHome()
const controlFile = () => path.join(ledgerFolder(), "control.json")

const createAccountAndKey = async () => {
  const account = await json(["accounts", "create", "--name", "Ann Co"])
  const key = await json([
    "keys",
    "create",
    "--account",
    account.id,
    "--name",
    "k",
    "--scopes",
    "all",
    "--budget-usd",
    "0.25"
  ])
  return { account, key }
}

describe("an administrative command", () => {
  it("creates accounts and keys while no server runs, in a private folder without the secret of a key", async () => {
    assert.deepStrictEqual(await json(["accounts", "list"]), [])
    const nothing = await larder(["accounts", "list"])
    assert.match(nothing.stdout, /no accounts yet. Create one with: larder-serve accounts create/)

    const { account, key } = await createAccountAndKey()
    assert.match(account.id, /^acct_[A-Za-z0-9]{20}$/)
    assert.strictEqual(account.balance_credits, 5000)
    assert.match(key.key, /^svc_data_[A-Za-z0-9]{64}$/)
    const { id, last4, name, budget_usd, account_id } = key
    assert.match(id, /^key_[A-Za-z0-9]{20}$/)
    assert.deepStrictEqual(
      { last4, name, budget_usd, account_id, scopes: key.scopes },
      { last4: key.key.slice(-4), name: "k", budget_usd: 0.25, account_id: account.id, scopes: [...scopes] }
    )
    assert.strictEqual(statSync(ledgerFolder()).mode & 0o077, 0)
    const files = readdirSync(ledgerFolder()).map((name) => readFileSync(path.join(ledgerFolder(), name)))
    assert.isFalse(files.some((bytes) => bytes.includes(key.key.slice(9, -4))))
  })

  it("changes a running server immediately, and exports the same ledger with and without it", async () => {
    const { account, key } = await createAccountAndKey()
    const { call, stop } = await startServer()
    assert.strictEqual(statSync(controlFile()).mode & 0o777, 0o600)
    assert.deepStrictEqual([await call(key.key), await call(key.key)], ["charged", "charged"])
    assert.strictEqual(await call(key.key), "monthly_spend_cap_reached")
    await json(["keys", "edit", "--key", key.id, "--budget-usd", "1", "--scopes", "get-store,get-product"])
    assert.strictEqual(await call(key.key), "charged")

    const credited = await json(["accounts", "credit", "--account", account.id, "--usd", "1.5", "--note", "sorry"])
    assert.strictEqual(credited.balance_credits, 6200)
    await json(["keys", "revoke", "--key", key.id])
    assert.strictEqual(await call(key.key), "unknown key")
    const [listed] = await json(["keys", "list", "--account", account.id])
    assert.deepStrictEqual(
      [listed.last4, listed.scopes, listed.spent_usd, listed.revoked_at === null],
      [key.last4, ["get-store", "get-product"], 0.3, false]
    )

    const throughServer = await larder(["ledger", "export", "--account", account.id, "--json"])
    await stop()
    assert.throws(() => statSync(controlFile()), /ENOENT/)
    const withoutServer = await larder(["ledger", "export", "--account", account.id, "--json"])
    assert.strictEqual(withoutServer.stdout, throughServer.stdout)
    const lines = withoutServer.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      lines.map(({ balance, credits, endpoint, key_id, type }) => ({ balance, credits, endpoint, key_id, type })),
      [
        { balance: 5000, credits: 5000, endpoint: null, key_id: null, type: "grant" },
        ...[4900, 4800, 4700].map((balance) => {
          return { balance, credits: -100, endpoint: "/v1/stores", key_id: key.id, type: "charge" }
        }),
        { balance: 6200, credits: 1500, endpoint: null, key_id: null, type: "adjustment" }
      ]
    )
    assert.strictEqual(new Set(lines.slice(1, 4).map((entry) => entry.request_id)).size, 3)
  })

  it("reads every charge of a killed server, and ignores its remaining control file", async () => {
    const { account, key } = await createAccountAndKey()
    const killed = await startServerProcess()
    await killed.call(key.key)
    await killed.kill()
    assert.isTrue(statSync(controlFile()).isFile())
    assert.strictEqual((await json(["accounts", "list"]))[0].balance_credits, 4900)
    const next = await startServer()
    assert.strictEqual(await next.call(key.key), "charged")
    assert.strictEqual((await json(["accounts", "list"]))[0].balance_credits, 4800)
    assert.strictEqual(account.balance_credits, 5000)
  })

  it("waits until the ledger is released", async () => {
    let isDone = false
    const waiting = Effect.gen(function* () {
      const { administration } = yield* openEmbeddedLedger(ledgerFolder())
      const second = json(["accounts", "create", "--name", "b"]).finally(() => {
        isDone = true
      })
      yield* Effect.sleep("1 second") // long enough for the second command, if it did not wait
      assert.isFalse(isDone)
      yield* administration.createAccount({ name: "a" })
      return { second }
    })
    await (await Effect.runPromise(Effect.scoped(waiting))).second
    const accounts: ReadonlyArray<{ name: string }> = await json(["accounts", "list"])
    assert.deepStrictEqual(accounts.map(({ name }) => name).sort(), ["a", "b"])
  })
})

describe("credits by hand", () => {
  it("are booked once for a reference, through a server and without one, and a debit takes them back", async () => {
    const { id } = await json(["accounts", "create", "--name", "Ann Co"])
    const adjust = (command: string, usd: string, ...more: ReadonlyArray<string>) =>
      [`accounts ${command} --account ${id} --usd ${usd} --note`.split(" "), "wire 4711", more].flat()
    const credit = adjust("credit", "100", "--reference", "4711")
    const { booked_at, ...credited } = await json(credit)
    assert.deepStrictEqual([credited.booked, credited.balance_credits], [true, 105_000])
    const { stop } = await startServer()
    assert.deepStrictEqual(await json(credit), { ...credited, booked: false, booked_at })
    const repeated = await larder(credit)
    assert.deepStrictEqual(repeated, {
      code: 0,
      stdout: `Reference "4711" was already booked, at ${booked_at}. Nothing was booked now.\nAccount ${id} (Ann Co) has 105 USD (105000 credits).\n`,
      stderr: "",
      problems: ""
    })
    const other = await larder(adjust("credit", "99", "--reference", "4711"))
    assert.deepStrictEqual([other.code, other.stdout], [1, ""])
    assert.include(other.problems, `was used at ${booked_at} for a credit of 100 USD to account ${id}`)
    const debit = await larder(adjust("debit", "120", "--reference", "4711"))
    assert.strictEqual(debit.stdout, `Account ${id} (Ann Co) now has -15 USD (-15000 credits).\n`)
    await stop()
    const { stdout } = await larder(["ledger", "export", "--account", id])
    for (const booked of ["credit:4711 wire 4711", "debit:4711 wire 4711"]) assert.include(stdout, `  ${booked}\n`)
  })

  it("are refused with code 2 if they repeat the amount and the note of the last 24 hours, without --again", async () => {
    const { id } = await json(["accounts", "create", "--name", "Ann Co"])
    for (const command of ["credit", "debit"]) {
      const adjust = ["accounts", command, "--account", id, "--usd", "3", "--note", "wire 4711"]
      const { booked_at } = await json(adjust)
      const { code, problems, stdout } = await larder(adjust)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(
        problems,
        new RegExp(`^larder-serve: A ${command} of 3 USD .+ ${booked_at}\\..+--again.+--reference`)
      )
      assert.isTrue((await json([...adjust, "--again"])).booked)
    }
    assert.strictEqual((await json(["accounts", "list"]))[0].balance_credits, 5_000)
  })
})

describe("a list of keys", () => {
  it("shows for each key whether it is active, paused, expiring or revoked", async () => {
    const { account } = await createAccountAndKey()
    const create = ["keys", "create", "--account", account.id, "--scopes", "all"]
    await json([...create, "--name", "paused", "--budget-usd", "0"])
    const revoked = await json([...create, "--name", "revoked", "--budget-usd", "0"])
    await json(["keys", "revoke", "--key", revoked.id])
    await json([...create, "--name", "ends", "--budget-usd", "1", "--expires-at", "2100-01-31T00:00:00Z"])
    const { stdout } = await larder(["keys", "list", "--account", account.id])
    const states = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(/ {2,}/))
      .map(([, , name, , state]) => [name, state?.replace(/20\d\d-.*Z$/, "<time>")])
    assert.deepStrictEqual(states, [
      ["name", "state"],
      ["k", "active"],
      ["paused", "paused"],
      ["revoked", "revoked <time>"],
      ["ends", "active, expires 2100-01-31T00:00:00.000Z"]
    ])
  })

  it("shows the budget, and a former key while it is accepted", async () => {
    const { key } = await createAccountAndKey()
    const edited = await larder(["keys", "edit", "--key", key.id, "--budget-usd", "0.2"])
    assert.include(edited.stdout, "scopes all, 0.2 USD a month")
    const { stdout } = await larder(["keys", "rotate", "--key", key.id, "--overlap", "1.5"])
    const [secret = "", ...output] = stdout.trim().split("\n")
    assert.match(secret, /^svc_data_[A-Za-z0-9]{64}$/)
    assert.notStrictEqual(secret, key.key)
    assert.match(output.join(" "), /The former key \(…\w{4}\) is accepted until 20\d\d-/)
    const list = await larder(["keys", "list", "--account", key.account_id])
    assert.match(list.stdout, /active, …\w{4} until 20\d\d-/)
    assert.include(list.stdout, "0 of 0.2 USD")
    const refused = await larder(["keys", "rotate", "--key", key.id, "--overlap", "-1"])
    assert.strictEqual(refused.code, 2)
  })

  it("shows a changed and a removed expiry of a key", async () => {
    const { key } = await createAccountAndKey()
    const edit = (end: string) => json(["keys", "edit", "--key", key.id, "--expires-at", end])
    assert.strictEqual((await edit("2100-01-31T00:00:00Z")).expires_at, "2100-01-31T00:00:00.000Z")
    assert.isNull((await edit("never")).expires_at)
    const passed = await larder(["keys", "edit", "--key", key.id, "--expires-at", "2020-01-31T00:00:00Z"])
    assert.deepStrictEqual([passed.code, passed.stdout], [1, ""])
    assert.strictEqual(
      passed.problems,
      "larder-serve: A key cannot be made to expire at 2020-01-31T00:00:00.000Z, because that time has passed. Nothing was changed.\n"
    )
  })
})

describe("the control channel", () => {
  it("accepts requests only with its token (otherwise 401) and only under a loopback name (otherwise 403)", async () => {
    await startServer()
    const { token, url } = JSON.parse(readFileSync(controlFile(), "utf8"))
    const request = async (headers: Record<string, string>) =>
      (await fetch(`${url}/listAccounts`, { method: "POST", body: "{}", headers })).status
    assert.strictEqual(await request({ authorization: `Bearer ${token}` }), 200)
    assert.strictEqual(await request({ authorization: "Bearer guess" }), 401)
    assert.strictEqual(await request({}), 401)
    // fetch does not let a caller choose the Host header
    const child = spawn(process.execPath, ["-e", hostProbe, url, token])
    assert.strictEqual(await text(child.stdout), "403")
  })
})

const hostProbe = `
  const [url, token] = process.argv.slice(1)
  const headers = { host: "larder.example", authorization: "Bearer " + token }
  require("node:http").get(url, { headers }, (response) => {
    process.stdout.write(String(response.statusCode))
    response.destroy()
  })
`

describe("an administrative command that fails", () => {
  it("exits with 2 and prints the usage on stderr if its arguments are wrong", async () => {
    for (const args of [
      ["keys"],
      ["keys", "create", "--account", "acct_a", "--name", "k", "--scopes", "nope", "--budget-usd", "1"],
      ["keys", "create", "--account", "acct_a", "--name", "k", "--scopes", "all", "--budget-usd", "1.2345"],
      ["keys", "edit", "--key", "key_a"],
      ["keys", "edit", "--key", "key_a", "--expires-at", "2027-02-30T00:00:00Z"],
      ["accounts", "credit", "--account", "acct_a", "--usd", "0", "--note", "n"]
    ]) {
      const { code, problems, stdout } = await larder(args)
      assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
      assert.match(
        problems,
        args.length === 1 ? /USAGE/ : /^larder-serve .+: .+\n(?: .+\n)?Try: larder-serve .+ --help\n$/
      )
    }
  })

  it("exits with 1 and advises what to do if the account or the key does not exist", async () => {
    const noAccount = await larder(["keys", "list", "--account", "acct_a"])
    assert.deepStrictEqual([noAccount.code, noAccount.stdout], [1, ""])
    assert.strictEqual(
      noAccount.problems,
      "larder-serve: There is no account acct_a. List them with: larder-serve accounts list\n"
    )
    const noKey = await larder(["keys", "revoke", "--key", `svc_data_${"s".repeat(64)}`]) // a secret is not repeated
    assert.strictEqual(noKey.code, 1)
    assert.match(noKey.problems, /^larder-serve: There is no key svc_data_…\. --key takes the id of a key \(key_…\)/)
  })

  it("exits with 1 and reports that another process holds the ledger", async () => {
    const { stop } = await startServer()
    writeFileSync(controlFile(), JSON.stringify({ url: "http://127.0.0.1:9", token: "stale" }))
    const { code, problems } = await larder(["accounts", "list"])
    assert.strictEqual(code, 1)
    assert.match(problems, /is in use by another process, which does not respond like larder-serve/)
    await stop()
  })
})
