/** An embedded ledger that moves into PostgreSQL, by the command that operators use. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Administration } from "@larder/serve/ledger/administration.ts"
import { embeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import type { LedgerAccess } from "@larder/serve/ledger/ledger.ts"
import { postgresLedger } from "@larder/serve/ledger/postgres/postgres-ledger.ts"
import { Effect, Redacted, Stream } from "effect"
import { inject } from "vitest"
import { newDatabase } from "../postgres.ts"
import { run } from "../programs.ts"

const october = Date.parse("2026-10-15T12:00:00.000Z")

const home = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-home-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
const database = Effect.promise(() => newDatabase(inject("postgresUrl")))
const openEmbedded = (folder: string) => embeddedLedger(path.join(folder, "ledger"))
const openPostgres = (url: string) => postgresLedger(Redacted.make(url))

const migrate = (folder: string, url: string) =>
  Effect.promise(() =>
    run("larder-serve", ["ledger", "migrate", "--json"], { LARDER_HOME: folder, LARDER_LEDGER_URL: url })
  )

/** Two accounts, three keys of which one is revoked, and some hundred charges in two months. */
const history = Effect.fnUntraced(function* ({ administration, authenticate, hold }: LedgerAccess) {
  const first = yield* administration.createAccount({ name: "Ännchen & Co" })
  const second = yield* administration.createAccount({ name: "Idle" })
  const create = (name: string) =>
    administration.createKey({ account_id: first.id, name, scopes: ["get-store"], budget_credits: 3_000 })
  const [key, other, revoked] = yield* Effect.all([create("a"), create("b"), create("c")])
  yield* administration.revokeKey({ key_id: revoked.id })
  yield* administration.creditAccount({ account_id: first.id, credits: 10_000, note: 'wire "4711", ünpaid' })
  yield* Effect.promise(async () => {
    for (let call = 0; call < 300; call++) {
      const view = await authenticate(call % 3 === 0 ? other.key : key.key)
      if (view === undefined) throw new Error("unknown key")
      const moment = october + call * 6 * 3_600_000
      const admission = await hold(view, call % 2 === 0 ? "/v1/stores" : "/v1/branded-foods", 10, moment)
      if ("held" in admission) await admission.held.commit(`req_${call}`)
    }
  })
  return { accounts: [first.id, second.id], key, revoked }
})

/** Everything that an operator can ask, but for where a store has put an entry. */
const everything = Effect.fnUntraced(function* (
  administration: Administration["Service"],
  accounts: ReadonlyArray<string>
) {
  const days = { from: "2026-01-01", to: "2026-12-31" }
  return {
    accounts: yield* administration.listAccounts({}),
    keys: yield* Effect.forEach(accounts, (account_id) => administration.listKeys({ account_id })),
    usage: yield* Effect.forEach(accounts, (account_id) => administration.usage({ account_id, ...days })),
    entries: yield* Effect.forEach(accounts, (account_id) =>
      Stream.runCollect(administration.entriesOf(account_id)).pipe(
        Effect.map((entries) => entries.map(({ sequence: _, ...entry }) => entry))
      )
    ),
    totals: yield* administration.verify({})
  }
})

const aLedger = Effect.fnUntraced(function* (folder: string) {
  return yield* Effect.gen(function* () {
    const ledger = yield* openEmbedded(folder)
    const { accounts, key, revoked } = yield* history(ledger)
    return { accounts, key, revoked, before: yield* everything(ledger.administration, accounts) }
  }).pipe(Effect.scoped)
})

describe("ledger migrate", () => {
  it.live("moves everything: accounts, keys, entries with their hashes, budgets and usage", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const { accounts, before, key, revoked } = yield* aLedger(folder)
      const { code, stderr, stdout } = yield* migrate(folder, url)
      assert.strictEqual(code, 0, stderr)
      const { accounts: count, entries, keys } = JSON.parse(stdout)
      assert.deepStrictEqual([count, keys, entries], [2, 3, before.totals.entries])
      assert.notInclude(stdout + stderr, new URL(url).password)

      const ledger = yield* openPostgres(url)
      assert.deepStrictEqual(yield* everything(ledger.administration, accounts), before)
      // keys are valid or revoked as before, budgets go on where they were, and entries follow the old ones
      assert.isUndefined(yield* Effect.promise(() => ledger.authenticate(revoked.key)))
      const view = yield* Effect.promise(() => ledger.authenticate(key.key))
      if (view === undefined) throw new Error("unknown key")
      const admission = yield* Effect.promise(() => ledger.hold(view, "/v1/stores", 2_600, october))
      assert.deepStrictEqual(admission, { refused: "spend_cap_reached" })
      const next = yield* Effect.promise(() => ledger.hold(view, "/v1/stores", 10, october))
      if (!("held" in next)) throw new Error(next.refused)
      yield* Effect.promise(() => next.held.commit("req_next"))
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("leaves the old ledger closed, so that no credit is spent twice", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      yield* aLedger(folder)
      yield* migrate(folder, url)
      const error = yield* Effect.scoped(Effect.flip(openEmbedded(folder)))
      assert.strictEqual(error._tag, "LedgerMoved")
      const { code, stderr } = yield* Effect.promise(() =>
        run("larder-serve", ["accounts", "list"], { LARDER_HOME: folder })
      )
      assert.strictEqual(code, 1)
      assert.match(stderr, /This ledger was moved to postgres:\/\/127\.0\.0\.1:\d+\/larder_\w+: set LARDER_LEDGER_URL/)
      assert.notInclude(stderr, new URL(url).password)
    }).pipe(Effect.scoped)
  )

  it.live("can be repeated when it was cut off before the old ledger was closed", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      yield* aLedger(folder)
      yield* migrate(folder, url)
      rmSync(path.join(folder, "ledger", "moved-to-postgresql"))
      const { code, stderr } = yield* migrate(folder, url)
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual((yield* Effect.flip(openEmbedded(folder)))._tag, "LedgerMoved")
    }).pipe(Effect.scoped)
  )

  it.live("refuses a database that holds another ledger, and changes nothing", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const { accounts, before } = yield* aLedger(folder)
      const other = yield* openPostgres(url)
      yield* other.administration.createAccount({ name: "theirs" })
      const { code, stderr } = yield* migrate(folder, url)
      assert.strictEqual(code, 1)
      assert.match(stderr, /The ledger was not moved: the database holds another ledger: it has 1 accounts/)
      assert.strictEqual((yield* other.administration.verify({})).entries, 1)
      const { administration } = yield* openEmbedded(folder)
      assert.deepStrictEqual(yield* everything(administration, accounts), before)
    }).pipe(Effect.scoped)
  )

  it.live("wants a database, a reachable one, and a stopped server", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const without = yield* Effect.promise(() => run("larder-serve", ["ledger", "migrate"], { LARDER_HOME: folder }))
      assert.deepStrictEqual([without.code, without.stdout], [1, ""])
      assert.match(without.stderr, /Set LARDER_LEDGER_URL to the PostgreSQL database/)
      const away = yield* migrate(folder, "postgres://larder:secret@127.0.0.1:9/nowhere")
      assert.strictEqual(away.code, 1)
      assert.match(away.stderr, /The ledger cannot be reached at postgres:\/\/127\.0\.0\.1:9\/nowhere: .*ECONNREFUSED/)
      assert.notInclude(away.stderr, "secret")
      yield* openEmbedded(folder)
      const running = yield* migrate(folder, yield* database)
      assert.strictEqual(running.code, 1)
      assert.match(running.stderr, /is held by another process: a larder-serve that is running/)
    }).pipe(Effect.scoped)
  )
})

describe("ledger backup of a ledger in PostgreSQL", () => {
  it.live("is restored as an embedded ledger, or into another database, with everything up to one moment", () =>
    Effect.gen(function* () {
      const [folder, url, other] = [yield* home, yield* database, yield* database]
      const ledger = yield* openPostgres(url)
      const { accounts, key } = yield* history(ledger)
      const file = path.join(folder, "ledger", "ledger.duckdb")
      mkdirSync(path.dirname(file), { mode: 0o700 })
      const before = yield* everything(ledger.administration, accounts)
      const { code, stderr } = yield* Effect.promise(() =>
        run("larder-serve", ["ledger", "backup", "--to", file, "--json"], {
          LARDER_HOME: folder,
          LARDER_LEDGER_URL: url
        })
      )
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(readdirSync(path.dirname(file)), ["ledger.duckdb"])
      yield* ledger.administration.creditAccount({ account_id: key.account_id, credits: 7, note: "after the backup" })

      yield* Effect.scoped(
        Effect.gen(function* () {
          const { administration } = yield* openEmbedded(folder)
          assert.deepStrictEqual(yield* everything(administration, accounts), before)
        })
      )
      assert.strictEqual((yield* migrate(folder, other)).code, 0)
      const restored = yield* openPostgres(other)
      assert.deepStrictEqual(yield* everything(restored.administration, accounts), before)
    }).pipe(Effect.scoped)
  )

  it.live("never writes over a file", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const ledger = yield* openPostgres(url)
      const file = path.join(folder, "precious")
      writeFileSync(file, "precious")
      const error = yield* Effect.flip(ledger.administration.backup({ file }))
      assert.match(error.message, /there is a file of this name already/)
      assert.strictEqual(readFileSync(file, "utf8"), "precious")
      assert.deepStrictEqual(readdirSync(folder), ["precious"])
    }).pipe(Effect.scoped)
  )
})
