/** Moves an embedded ledger to PostgreSQL with `larder-serve ledger migrate`, and backs up a ledger in PostgreSQL. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { type Administration, type LedgerAccess, openPostgresLedger } from "@larder/serve/ledger"
import type { Booking } from "@larder/serve/ledger/administration.ts"
import { openEmbeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { writeMigrationMark } from "@larder/serve/ledger/embedded/migration-mark.ts"
import { redactedUrl } from "@larder/serve/ledger/postgres/sql/database.ts"
import { Context, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { afterAll, inject } from "vitest"
import { pooledDatabase } from "../support/postgres/new-database.ts"
import { run } from "../support/programs.ts"
import { refundCharge } from "./shared-ledger.ts"

const october = Date.parse("2026-10-15T12:00:00.000Z")

const home = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-home-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
const database = Effect.suspend(() => pooledDatabase(inject("postgresUrl")))
const openEmbedded = (folder: string) => openEmbeddedLedger(path.join(folder, "ledger"))
const catchRefusal = (folder: string) => Effect.scoped(Effect.flip(openEmbedded(folder)))
const openPostgres = (url: string) => Effect.flatMap(home, (folder) => openPostgresLedger(Redacted.make(url), folder))

/** Raw SQL access, for what no command does. */
const client = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url) })), (built) => Context.get(built, PgClient.PgClient))

const migrate = (folder: string, url: string) =>
  Effect.promise(() =>
    run("larder-serve", ["ledger", "migrate", "--json"], { LARDER_HOME: folder, LARDER_LEDGER_URL: url })
  )

/**
 * Two accounts; three keys, one revoked, and one that was rotated and expires; and up
 * to 300 charges over 75 days.
 */
const createHistory = Effect.fnUntraced(function* ({ administration, authenticate, hold }: LedgerAccess) {
  const first = yield* administration.createAccount({ name: "Ännchen & Co" })
  const second = yield* administration.createAccount({ name: "Idle" })
  const create = (name: string) =>
    administration.createKey({ account_id: first.id, name, scopes: ["get-store"], budget_credits: 3_000 })
  const [key, other, revoked] = yield* Effect.all([create("a"), create("b"), create("c")])
  yield* administration.revokeKey({ key_id: revoked.id })
  yield* administration.creditAccount({ account_id: first.id, credits: 10_000, note: 'wire "4711", ünpaid' })
  yield* administration.rotateKey({ key_id: other.id, overlap_hours: 24 })
  yield* administration.editKey({ key_id: other.id, expires_at: "2100-01-31T00:00:00.000Z" })
  yield* Effect.promise(async () => {
    const charge = async (call: number) => {
      const view = await authenticate(call % 3 === 0 ? other.key : key.key, Date.now())
      if (view === undefined) throw new Error("unknown key")
      const moment = october + call * 6 * 3_600_000
      const admission = await hold(
        view,
        { endpoint: call % 2 === 0 ? "/v1/stores" : "/v1/branded-foods", scope: "get-store", credits: 10 },
        moment
      )
      if ("held" in admission) await admission.held.capture(`req_${call}`)
    }
    for (let call = 0; call < 300; call += 10)
      await Promise.all(Array.from({ length: 10 }, (_, offset) => charge(call + offset)))
  })
  return { accounts: [first.id, second.id], key, revoked }
})

const byId = <A extends { readonly id: string }>(records: ReadonlyArray<A>) =>
  records.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** Everything that operators can query, except sequence numbers of entries and the order of records of the same time. */
const readEverything = Effect.fnUntraced(function* (
  administration: Administration["Service"],
  accounts: ReadonlyArray<string>
) {
  const days = { from: "2026-01-01", to: "2026-12-31" }
  return {
    accounts: byId(yield* administration.listAccounts({})),
    keys: yield* Effect.forEach(accounts, (account_id) => Effect.map(administration.listKeys({ account_id }), byId)),
    usage: yield* Effect.forEach(accounts, (account_id) => administration.usage({ account_id, ...days })),
    entries: yield* Effect.forEach(accounts, (account_id) =>
      Stream.runCollect(administration.entriesOf(account_id)).pipe(
        Effect.map((entries) => entries.map(({ sequence: _, ...entry }) => entry))
      )
    ),
    totals: yield* administration.verify({})
  }
})

/** The history is created once, and copied into each test's home. */
const original = mkdtempSync(path.join(tmpdir(), "larder-home-"))
afterAll(() => rmSync(original, { recursive: true, force: true }))
const written = Effect.gen(function* () {
  const ledger = yield* openEmbedded(original)
  const { accounts, key, revoked } = yield* createHistory(ledger)
  return { accounts, key, revoked, before: yield* readEverything(ledger.administration, accounts) }
}).pipe(Effect.scoped, Effect.cached, Effect.runSync)
const copyOriginal = (folder: string) =>
  Effect.tap(written, () => Effect.sync(() => cpSync(original, folder, { recursive: true })))

describe("ledger migrate", () => {
  it.live("moves accounts, keys, entries (with hashes and count), budgets and usage", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const { accounts, before, key, revoked } = yield* copyOriginal(folder)
      const { code, stderr, stdout } = yield* migrate(folder, url)
      assert.strictEqual(code, 0, stderr)
      const { accounts: count, entries, keys } = JSON.parse(stdout)
      assert.deepStrictEqual([count, keys, entries], [2, 3, before.totals.entries])
      assert.notInclude(stdout + stderr, new URL(url).password)

      // the entry count is known before the first page of entries is read: statistics are up to date
      const sql = yield* client(url)
      const known = yield* sql`select reltuples::integer as entries from pg_class where oid = 'ledger.entry'::regclass`
      assert.deepStrictEqual(known, [{ entries: before.totals.entries }])

      const ledger = yield* openPostgres(url)
      assert.deepStrictEqual(yield* readEverything(ledger.administration, accounts), before)
      // keys are valid or revoked as before, budgets continue from their spent amounts, and entries extend the chain
      assert.isUndefined(yield* Effect.promise(() => ledger.authenticate(revoked.key, Date.now())))
      const view = yield* Effect.promise(() => ledger.authenticate(key.key, Date.now()))
      if (view === undefined) throw new Error("unknown key")
      const admission = yield* Effect.promise(() =>
        ledger.hold(view, { endpoint: "/v1/stores", scope: "get-store", credits: 2_600 }, october)
      )
      assert.deepStrictEqual(admission, { refused: "monthly_spend_cap_reached" })
      const next = yield* Effect.promise(() =>
        ledger.hold(view, { endpoint: "/v1/stores", scope: "get-store", credits: 10 }, october)
      )
      if (!("held" in next)) throw new Error(next.refused)
      yield* Effect.promise(() => next.held.capture("req_next"))
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("moves an account with a negative balance and its bookings", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const booking = (type: Booking["type"], credits: number, reference: string) => ({
        type,
        credits,
        reference,
        note: "money"
      })
      const [topUp, refund] = [booking("top_up", 10_000, "pay_1"), booking("refund", -16_000, "re_1")]
      const account_id = yield* Effect.gen(function* () {
        const { administration } = yield* openEmbedded(folder)
        const { id } = yield* administration.createAccount({ name: "A" })
        yield* administration.book({ account_id: id, ...topUp })
        yield* administration.book({ account_id: id, ...refund })
        return id
      }).pipe(Effect.scoped)
      const { code, stderr } = yield* migrate(folder, url)
      assert.strictEqual(code, 0, stderr)
      const { administration } = yield* openPostgres(url)
      const known = { booked: false, balance_credits: -1_000 }
      assert.deepStrictEqual(yield* administration.book({ account_id, ...topUp }), known)
      assert.deepStrictEqual(yield* administration.book({ account_id, ...refund }), known)
      const won = { account_id, ...booking("adjustment", 500, "dp_1:won") }
      assert.deepStrictEqual(yield* administration.book(won), { booked: true, balance_credits: -500 })
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("closes the old ledger, and can be rerun if it was interrupted before closing it", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      yield* copyOriginal(folder)
      yield* migrate(folder, url)
      assert.strictEqual((yield* catchRefusal(folder))._tag, "LedgerMoved")
      const { code, stderr } = yield* Effect.promise(() =>
        run("larder-serve", ["accounts", "list"], { LARDER_HOME: folder })
      )
      assert.strictEqual(code, 1)
      assert.match(stderr, /This ledger was moved to postgres:\/\/127\.0\.0\.1:\d+\/larder_\w+: set LARDER_LEDGER_URL/)
      assert.notInclude(stderr, new URL(url).password)

      // as if it had been interrupted before the old ledger was closed
      yield* writeMigrationMark("moving", path.join(folder, "ledger"), redactedUrl(Redacted.make(url)))
      assert.match(
        (yield* catchRefusal(folder)).message,
        /it is unknown whether the move is complete. Run again: larder-serve ledger migrate/
      )
      const repeated = yield* migrate(folder, url)
      assert.strictEqual(repeated.code, 0, repeated.stderr)
      assert.match((yield* catchRefusal(folder)).message, /This ledger was moved to/)
    }).pipe(Effect.scoped)
  )

  it.live("keeps the old ledger closed if the commit fails, until the migration is rerun", () =>
    Effect.gen(function* () {
      const [folder, url, other] = [yield* home, yield* database, yield* database]
      const { accounts, before } = yield* copyOriginal(folder)
      yield* Effect.scoped(openPostgres(url)) // makes the tables
      const sql = yield* client(url)
      yield* sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'the disk is full'; end $$`
      yield* sql`create constraint trigger refuse after insert on ledger.account deferrable initially deferred
        for each row execute function refuse()`
      const failed = yield* migrate(folder, url)
      assert.deepStrictEqual([failed.code, failed.stdout], [1, ""])
      assert.match(failed.stderr, /The ledger cannot be moved: the disk is full/)
      assert.match((yield* catchRefusal(folder)).message, /was being moved to postgres:.* larder-serve ledger migrate/)
      // moving to any other database than the one that may contain it is refused
      const elsewhere = yield* migrate(folder, other)
      assert.strictEqual(elsewhere.code, 1)
      assert.match(elsewhere.stderr, /was being moved to postgres:/)

      yield* sql`drop trigger refuse on ledger.account`
      const repeated = yield* migrate(folder, url)
      assert.strictEqual(repeated.code, 0, repeated.stderr)
      const { administration } = yield* openPostgres(url)
      assert.deepStrictEqual(yield* readEverything(administration, accounts), before)
    }).pipe(Effect.scoped)
  )

  it.live("rejects a missing or an empty ledger, and changes nothing", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const wrong = path.join(folder, "wrong")
      const missing = yield* migrate(wrong, url)
      assert.strictEqual(missing.code, 1)
      assert.include(missing.stderr, `The ledger was not moved: there is no ledger in ${path.join(wrong, "ledger")}`)
      assert.deepStrictEqual(readdirSync(folder), [])

      yield* Effect.scoped(openEmbedded(folder))
      const empty = yield* migrate(folder, url)
      assert.strictEqual(empty.code, 1)
      assert.match(empty.stderr, /The ledger was not moved: the ledger in .* is empty/)
      yield* Effect.scoped(openEmbedded(folder))
    }).pipe(Effect.scoped)
  )

  it.live("refuses a database that contains another ledger, and changes nothing", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const { accounts, before } = yield* copyOriginal(folder)
      const other = yield* openPostgres(url)
      yield* other.administration.createAccount({ name: "theirs" })
      const { code, stderr } = yield* migrate(folder, url)
      assert.strictEqual(code, 1)
      assert.match(stderr, /The ledger was not moved: the database contains another ledger: it has 1 account,/)
      assert.strictEqual((yield* other.administration.verify({})).entries, 1)
      const { administration } = yield* openEmbedded(folder)
      assert.deepStrictEqual(yield* readEverything(administration, accounts), before)
    }).pipe(Effect.scoped)
  )

  it.live("exits with 1 if the database is not set or unreachable, or while a server is running", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const unset = yield* Effect.promise(() => run("larder-serve", ["ledger", "migrate"], { LARDER_HOME: folder }))
      assert.deepStrictEqual([unset.code, unset.stdout], [1, ""])
      assert.match(unset.stderr, /Set LARDER_LEDGER_URL to the PostgreSQL database/)
      yield* Effect.scoped(openEmbedded(folder))
      const unreachable = yield* migrate(folder, "postgres://larder:secret@127.0.0.1:9/nowhere")
      assert.strictEqual(unreachable.code, 1)
      assert.match(
        unreachable.stderr,
        /The ledger cannot be reached at postgres:\/\/127\.0\.0\.1:9\/nowhere: .*ECONNREFUSED/
      )
      assert.notInclude(unreachable.stderr, "secret")
      yield* openEmbedded(folder)
      const running = yield* migrate(folder, yield* database)
      assert.strictEqual(running.code, 1)
      assert.match(running.stderr, /is in use by another process, such as a running larder-serve/)
    }).pipe(Effect.scoped)
  )
})

describe("ledger backup (PostgreSQL)", () => {
  it.live("can be restored as an embedded ledger or into another database, as a snapshot of one moment", () =>
    Effect.gen(function* () {
      const [folder, url, other] = [yield* home, yield* database, yield* database]
      const ledger = yield* openPostgres(url)
      const { accounts, key } = yield* createHistory(ledger)
      const file = path.join(folder, "ledger", "ledger.sqlite")
      mkdirSync(path.dirname(file), { mode: 0o700 })
      const before = yield* readEverything(ledger.administration, accounts)
      const { code, stderr } = yield* Effect.promise(() =>
        run("larder-serve", ["ledger", "backup", "--to", file, "--json"], {
          LARDER_HOME: folder,
          LARDER_LEDGER_URL: url
        })
      )
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(readdirSync(path.dirname(file)), ["ledger.sqlite"])
      yield* ledger.administration.creditAccount({ account_id: key.account_id, credits: 7, note: "after the backup" })

      yield* Effect.scoped(
        Effect.gen(function* () {
          const { administration } = yield* openEmbedded(folder)
          assert.deepStrictEqual(yield* readEverything(administration, accounts), before)
        })
      )
      assert.strictEqual((yield* migrate(folder, other)).code, 0)
      const restored = yield* openPostgres(other)
      assert.deepStrictEqual(yield* readEverything(restored.administration, accounts), before)
    }).pipe(Effect.scoped)
  )

  it.live("excludes refunded calls from usage, as the original does", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const { administration, authenticate, hold } = yield* openPostgres(url)
      const { id } = yield* administration.createAccount({ name: "A" })
      const scopes = ["get-store"] as const
      const key = yield* administration.createKey({ account_id: id, name: "k", scopes, budget_credits: 150 })
      const now = Date.now()
      yield* Effect.promise(async () => {
        const view = await authenticate(key.key, Date.now())
        if (view === undefined) throw new Error("unknown key")
        for (const endpoint of ["/v1/stores", "/v1/branded-foods"]) {
          const admission = await hold(view, { endpoint, scope: "get-store", credits: 75 }, now)
          if ("held" in admission) await admission.held.capture(`req ${endpoint}`)
        }
      })
      yield* refundCharge(url, "req /v1/stores")
      const day = new Date(now).toISOString().slice(0, 10)
      const readAll = Effect.fnUntraced(function* (administration: Administration["Service"]) {
        return {
          ...(yield* readEverything(administration, [id])),
          usage: yield* administration.usage({ account_id: id, from: day, to: day })
        }
      })
      const before = yield* readAll(administration)
      assert.deepStrictEqual(before.totals.problems, [])
      assert.deepStrictEqual(before.usage, [
        { day, key_id: key.id, endpoint: "/v1/branded-foods", calls: 1, credits: 75 },
        { day, key_id: key.id, endpoint: "/v1/stores", calls: 0, credits: 0 }
      ])
      assert.strictEqual(before.keys[0]?.[0]?.spent_usd, 0.075)

      mkdirSync(path.join(folder, "ledger"), { mode: 0o700 })
      yield* administration.backup({ file: path.join(folder, "ledger", "ledger.sqlite") })
      const restored = yield* openEmbedded(folder)
      assert.deepStrictEqual(yield* readAll(restored.administration), before)
      const view = yield* Effect.promise(() => restored.authenticate(key.key, Date.now()))
      if (view === undefined) throw new Error("unknown key")
      assert.strictEqual(restored.remaining(view, now), 75)
    }).pipe(Effect.scoped)
  )

  it.live("is readable only by its owner, even while it is written", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const ledger = yield* openPostgres(url)
      yield* createHistory(ledger)
      const file = path.join(folder, "copy.sqlite")
      const backup = yield* Effect.forkChild(ledger.administration.backup({ file }))
      const modes = new Set<string>()
      while (backup.pollUnsafe() === undefined) {
        for (const name of readdirSync(folder)) {
          const mode = statSync(path.join(folder, name), { throwIfNoEntry: false })?.mode ?? 0
          modes.add(`${name.replace(/(?<=backup-).*/, "…")} ${(mode & 0o077).toString(8)}`)
        }
        yield* Effect.sleep("1 millis")
      }
      const { entries } = yield* Fiber.join(backup)
      assert.isAbove(entries, 200)
      assert.include([...modes], "larder-backup-… 0")
      assert.deepStrictEqual(
        [...modes].filter((name) => !name.endsWith(" 0")),
        []
      )
      assert.deepStrictEqual(readdirSync(folder), ["copy.sqlite"])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    }).pipe(Effect.scoped)
  )

  it.live("never overwrites a file", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const ledger = yield* openPostgres(url)
      const file = path.join(folder, "precious")
      writeFileSync(file, "precious")
      const error = yield* Effect.flip(ledger.administration.backup({ file }))
      assert.match(error.message, /a file with this name already exists/)
      assert.strictEqual(readFileSync(file, "utf8"), "precious")
      assert.deepStrictEqual(readdirSync(folder), ["precious"])
    }).pipe(Effect.scoped)
  )
})
