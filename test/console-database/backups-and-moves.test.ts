/** What the console keeps, in backups, after a restore, and on its way into PostgreSQL: by the commands of operators. */
import { copyFileSync, cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Administration, ledgerPath } from "@larder/serve/ledger"
import { Effect } from "effect"
import { afterAll, beforeAll, inject } from "vitest"
import { withConnection } from "../ledger/outage.ts"
import { type Place, storesIn } from "../payments/stores.ts"
import { makeBrowser, type Seen } from "../support/console/browser.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import { type Environment, run, start, startServer, waitForExit } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import { email, fill, goOn, home, type Kept, lookAt, password, placeIn, rowsAt } from "./kept.ts"

/** A folder that was filled once; tests begin with a copy of it. */
const example = mkdtempSync(path.join(tmpdir(), "larder-filled-"))
let keptInExample: Kept
beforeAll(async () => {
  keptInExample = await Effect.runPromise(fill(placeIn(example)))
})
afterAll(() => rmSync(example, { recursive: true, force: true }))
const filled = (place: Place) =>
  Effect.sync(() => {
    cpSync(placeIn(example).folder, place.folder, { recursive: true })
    return keptInExample
  })

const database = Effect.promise(() => newDatabase(inject("postgresUrl")))
const command = Effect.fnUntraced(function* (environment: Environment, ...args: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* Effect.promise(() => run("larder-serve", args, environment))
  assert.strictEqual(code, 0, stderr)
  return stdout
})
const backUp = (environment: Environment, file: string) => command(environment, "ledger", "backup", "--to", file)
const migrate = (folder: string, url: string) =>
  Effect.promise(() =>
    run("larder-serve", ["ledger", "migrate", "--json"], { LARDER_HOME: folder, LARDER_LEDGER_URL: url })
  )

/** A folder with nothing but the backup, as docs/operations.md restores it. */
const restored = (folder: string, file: string) => {
  const place = placeIn(folder)
  copyFileSync(file, ledgerPath(place.folder))
  return place
}

const sampleHome = Effect.acquireRelease(
  Effect.sync(() => copyHome(inject("sampleHome"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
const serving = (folder: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startServer(folder)),
    ({ stop }) => Effect.promise(() => stop())
  )
const asked = (seen: Promise<Seen>) => Effect.promise(() => seen)

const afterRestore = "The service was restored from a backup. Check the balance, then switch it on again."
const isOff = { is_on: false, cents: 20_00, off_reason: afterRestore }

describe.each(["in its folder", "in PostgreSQL"])("a backup of what a server keeps %s", (where) => {
  it.live("restores people, payments and cards, books nothing twice, and switches auto-recharge off", () =>
    Effect.gen(function* () {
      const [folder, other] = [yield* home, yield* home]
      const url = where === "in PostgreSQL" ? yield* database : undefined
      const place = placeIn(folder, url)
      const kept = yield* url === undefined ? filled(place) : fill(place)
      const before = yield* lookAt(place, kept)
      for (const [name, rows] of Object.entries(before.rows)) assert.isAbove(rows.length, 0, name)
      assert.isTrue(before.isSignedIn && before.isInvited)

      const file = path.join(other, "backup.sqlite")
      const environment = { LARDER_HOME: folder, ...(url === undefined ? {} : { LARDER_LEDGER_URL: url }) }
      assert.match(yield* backUp(environment, file), /contains the ledger with 3 entries, and the console's data/)
      assert.deepStrictEqual(readdirSync(other), ["backup.sqlite"])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)

      const here = restored(path.join(other, "here"), file)
      const { rows, ...others } = yield* lookAt(here, kept)
      assert.deepStrictEqual(others, { isSignedIn: false, isInvited: false, recharge: isOff })
      assert.deepStrictEqual(rows, {
        ...before.rows,
        session: [],
        known_browser: [],
        invitation: [],
        recharge: rows.recharge ?? []
      })
      yield* goOn(here, kept)
      // the original is unchanged
      assert.deepStrictEqual(yield* lookAt(place, kept), before)

      if (url === undefined) return // a backup is the same file wherever it was made
      const there = path.join(other, "there")
      restored(there, file)
      const target = yield* database
      const moved = yield* migrate(there, target)
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.deepInclude(JSON.parse(moved.stdout), { people: 1, payments: 2 })
      assert.deepStrictEqual((yield* lookAt(placeIn(there, target), kept)).recharge, isOff)
      yield* goOn(placeIn(there, target), kept)
    }).pipe(Effect.scoped)
  )
})

describe("a backup of a running server", () => {
  it.live("keeps people and payments but no sessions: people sign in again", () =>
    Effect.gen(function* () {
      const [folder, other] = [yield* sampleHome, yield* home]
      const place = placeIn(folder)
      const kept = yield* filled(place)
      const file = path.join(other, "backup.sqlite")
      const server = yield* serving(folder)
      const browser = makeBrowser(server.console)
      assert.strictEqual((yield* asked(browser.post("/sign-in", { email, password }))).status, 303)
      assert.strictEqual((yield* asked(browser.get("/billing"))).status, 200)
      yield* backUp({ LARDER_HOME: folder }, file)
      assert.strictEqual((yield* asked(browser.get("/billing"))).status, 200)
      yield* Effect.promise(() => server.stop())

      renameSync(place.folder, path.join(folder, "ledger-broken"))
      restored(folder, file)
      yield* command({ LARDER_HOME: folder }, "ledger", "verify")
      const next = yield* serving(folder)
      const again = makeBrowser(next.console)
      for (const [name, cookie] of browser.cookies) again.cookies.set(name, cookie)
      assert.strictEqual((yield* asked(again.get("/billing"))).status, 303)
      assert.strictEqual((yield* asked(again.post("/sign-in", { email, password }))).status, 303)
      const billing = yield* asked(again.get("/billing"))
      assert.strictEqual(billing.status, 200)
      assert.include(billing.text, afterRestore)
      assert.include(billing.text, kept.paid)
      yield* Effect.promise(() => next.stop())
      yield* goOn(place, kept)
    }).pipe(Effect.scoped)
  )
})

describe("a backup", () => {
  it.live("exits with 1 and leaves no file when a table of the console cannot be read", () =>
    Effect.gen(function* () {
      const [folder, other, url] = [yield* home, yield* home, yield* database]
      yield* rowsAt(placeIn(folder, url)) // makes the tables
      const deny = "alter table console.payment rename column cents to other"
      yield* Effect.promise(() => withConnection(url, (sql) => sql.unsafe(deny)))
      const file = path.join(other, "backup.sqlite")
      const { code, stderr } = yield* Effect.promise(() =>
        run("larder-serve", ["ledger", "backup", "--to", file], { LARDER_HOME: folder, LARDER_LEDGER_URL: url })
      )
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /The ledger was not backed up to .*backup.sqlite: The console's tables cannot be used: .*cents/
      )
      assert.deepStrictEqual(readdirSync(other), [])
    }).pipe(Effect.scoped)
  )

  it.live("made while a payment settles shows it as open, and its credits are booked once", () =>
    Effect.gen(function* () {
      const [folder, other] = [yield* home, yield* home]
      const place = placeIn(folder)
      const kept = yield* filled(place)
      const { open, account } = kept
      const { account_id } = account
      const file = path.join(other, "backup.sqlite")
      yield* Effect.gen(function* () {
        const ledger = yield* Administration
        // credits first, then the note of it: the copy is made between the two
        yield* ledger.book({ account_id, type: "top_up", credits: 30_000, reference: open, note: "paid meanwhile" })
        yield* ledger.backup({ file })
      }).pipe(Effect.provide(storesIn(place)))
      const copy = restored(other, file)
      const { payment = [] } = yield* rowsAt(copy)
      assert.strictEqual(payment.filter((row) => row.includes('"state":"open"')).length, 1)
      yield* goOn(copy, kept)
    }).pipe(Effect.scoped)
  )
})

describe("ledger migrate", () => {
  it.live("moves what the console keeps, also after a kill half-way, and keeps later changes when it is repeated", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const place = placeIn(folder)
      const kept = yield* filled(place)
      const before = yield* lookAt(place, kept)
      assert.isTrue(before.isSignedIn && before.isInvited)
      const target = placeIn(yield* home, url)
      yield* rowsAt(target) // makes the tables
      yield* Effect.promise(() => killedHalfWay(folder, url))
      assert.deepStrictEqual((yield* rowsAt(target)).person, [])

      const moved = yield* migrate(folder, url)
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.deepInclude(JSON.parse(moved.stdout), { people: 1, payments: 2, entries: 3 })
      assert.deepStrictEqual(yield* lookAt(target, kept), before)

      yield* Effect.promise(() => withConnection(url, (sql) => sql`update console.request set status = 404`))
      assert.strictEqual((yield* migrate(folder, url)).code, 0)
      const request = before.rows.request?.map((row) => row.replace(":200,", ":404,")) ?? []
      assert.deepStrictEqual(yield* rowsAt(target), { ...before.rows, request })
      yield* goOn(target, kept)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a database whose console tables hold a row, and changes nothing", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const place = placeIn(folder)
      const kept = yield* filled(place)
      const target = placeIn(yield* home, url)
      const empty = yield* rowsAt(target) // makes the tables
      const person = "insert into console.person values ('pers_1', 'acct_1', 'bob@example.com', 'x', false, 'x')"
      yield* Effect.promise(() => withConnection(url, (sql) => sql.unsafe(person)))
      const { code, stderr } = yield* migrate(folder, url)
      assert.strictEqual(code, 1)
      assert.match(stderr, /was not moved: the database has no ledger, but 1 rows in console.person; choose an empty/)
      const after = yield* rowsAt(target)
      assert.strictEqual(after.person?.length, 1)
      assert.deepStrictEqual({ ...after, person: [] }, empty)
      assert.isTrue((yield* lookAt(place, kept)).isSignedIn)
    }).pipe(Effect.scoped)
  )
})

/** Kills it while it waits for a lock: the ledger, and half of the tables, are written by then. */
const killedHalfWay = (folder: string, url: string) =>
  withConnection(url, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`lock table console.payment in share mode`
        const child = start("larder-serve", ["ledger", "migrate"], { LARDER_HOME: folder, LARDER_LEDGER_URL: url })
        const end = waitForExit(child)
        yield* untilWaitingForLocks(sql)
        child.kill("SIGKILL")
        const { signal } = yield* Effect.promise(() => end)
        assert.strictEqual(signal, "SIGKILL")
      })
    )
  )
