/** The console's data in backups, after a restore, and after a move into PostgreSQL, with the commands of operators. */
import { copyFileSync, cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Administration } from "@larder/serve/ledger"
import { ledgerPath } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, inject } from "vitest"
import { withConnection } from "../ledger/outage.ts"
import { type Location, storesIn } from "../payments/stores.ts"
import { makeBrowser, type PageResponse } from "../support/console/browser.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import { type Environment, run, start, startServer, waitForExit } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import {
  continueUse,
  createLocation,
  email,
  fill,
  home,
  password,
  readRowsAt,
  readState,
  type StoredData
} from "./stored-data.ts"

/** A folder that is filled once; tests begin with a copy of it. */
const example = mkdtempSync(path.join(tmpdir(), "larder-filled-"))
let storedInExample: StoredData
beforeAll(async () => {
  storedInExample = await Effect.runPromise(fill(createLocation(example)))
})
afterAll(() => rmSync(example, { recursive: true, force: true }))
const copyExample = (location: Location) =>
  Effect.sync(() => {
    cpSync(createLocation(example).folder, location.folder, { recursive: true })
    return storedInExample
  })

const database = Effect.promise(() => newDatabase(inject("postgresUrl")))
const runCommand = Effect.fnUntraced(function* (environment: Environment, ...args: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* Effect.promise(() => run("larder-serve", args, environment))
  assert.strictEqual(code, 0, stderr)
  return stdout
})
const backUp = (environment: Environment, file: string) => runCommand(environment, "ledger", "backup", "--to", file)
const migrate = (folder: string, url: string) =>
  Effect.promise(() =>
    run("larder-serve", ["ledger", "migrate", "--json"], { LARDER_HOME: folder, LARDER_LEDGER_URL: url })
  )

/** Restores a backup into an empty folder, as described in docs/operations.md. */
const restore = (folder: string, file: string) => {
  const location = createLocation(folder)
  copyFileSync(file, ledgerPath(location.folder))
  return location
}

const sampleHome = Effect.acquireRelease(
  Effect.sync(() => copyHome(inject("sampleHome"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
const startServing = (folder: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startServer(folder)),
    ({ stop }) => Effect.promise(() => stop())
  )
const awaitResponse = (response: Promise<PageResponse>) => Effect.promise(() => response)

const afterRestore = "The service was restored from a backup. Check the balance, then switch it on again."
const isOff = { is_on: false, cents: 20_00, off_reason: afterRestore }

describe.each(["in its folder", "in PostgreSQL"])("a backup of a server's data %s", (where) => {
  it.live("restores people, payments and cards, books nothing twice, and switches auto-recharge off", () =>
    Effect.gen(function* () {
      const [folder, other] = [yield* home, yield* home]
      const url = where === "in PostgreSQL" ? yield* database : undefined
      const location = createLocation(folder, url)
      const stored = yield* url === undefined ? copyExample(location) : fill(location)
      const before = yield* readState(location, stored)
      for (const [name, rows] of Object.entries(before.rows)) assert.isAbove(rows.length, 0, name)
      assert.isTrue(before.isSignedIn && before.isInvited)

      const file = path.join(other, "backup.sqlite")
      const environment = { LARDER_HOME: folder, ...(url === undefined ? {} : { LARDER_LEDGER_URL: url }) }
      assert.match(yield* backUp(environment, file), /contains the ledger with 3 entries, and the console's data/)
      assert.deepStrictEqual(readdirSync(other), ["backup.sqlite"])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)

      const restored = restore(path.join(other, "restored"), file)
      const { rows, ...others } = yield* readState(restored, stored)
      assert.deepStrictEqual(others, { isSignedIn: false, isInvited: false, recharge: isOff })
      assert.deepStrictEqual(rows, {
        ...before.rows,
        session: [],
        known_browser: [],
        invitation: [],
        form_secret: [],
        notified_state: [],
        notifier: [],
        mailed_link: [],
        recharge: rows.recharge ?? []
      })
      yield* continueUse(restored, stored)
      // the original is unchanged
      assert.deepStrictEqual(yield* readState(location, stored), before)

      if (url === undefined) return // a backup has the same format in both cases
      const moving = path.join(other, "moving")
      restore(moving, file)
      const target = yield* database
      const moved = yield* migrate(moving, target)
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.deepInclude(JSON.parse(moved.stdout), { people: 1, payments: 2 })
      assert.deepStrictEqual((yield* readState(createLocation(moving, target), stored)).recharge, isOff)
      yield* continueUse(createLocation(moving, target), stored)
    }).pipe(Effect.scoped)
  )
})

describe("a backup of a running server", () => {
  it.live("contains people and payments but no sessions, so people sign in again", () =>
    Effect.gen(function* () {
      const [folder, other] = [yield* sampleHome, yield* home]
      const location = createLocation(folder)
      const stored = yield* copyExample(location)
      const file = path.join(other, "backup.sqlite")
      const server = yield* startServing(folder)
      const browser = makeBrowser(server.console)
      assert.strictEqual((yield* awaitResponse(browser.post("/sign-in", { email, password }))).status, 303)
      assert.strictEqual((yield* awaitResponse(browser.get("/billing"))).status, 200)
      yield* backUp({ LARDER_HOME: folder }, file)
      assert.strictEqual((yield* awaitResponse(browser.get("/billing"))).status, 200)
      yield* Effect.promise(() => server.stop())

      renameSync(location.folder, path.join(folder, "ledger-broken"))
      restore(folder, file)
      yield* runCommand({ LARDER_HOME: folder }, "ledger", "verify")
      const next = yield* startServing(folder)
      const nextBrowser = makeBrowser(next.console)
      for (const [name, cookie] of browser.cookies) nextBrowser.cookies.set(name, cookie)
      assert.strictEqual((yield* awaitResponse(nextBrowser.get("/billing"))).status, 303)
      assert.strictEqual((yield* awaitResponse(nextBrowser.post("/sign-in", { email, password }))).status, 303)
      const billing = yield* awaitResponse(nextBrowser.get("/billing"))
      assert.strictEqual(billing.status, 200)
      assert.include(billing.text, afterRestore)
      assert.include(billing.text, stored.paid)
      yield* Effect.promise(() => next.stop())
      yield* continueUse(location, stored)
    }).pipe(Effect.scoped)
  )
})

describe("a backup", () => {
  it.live("exits with 1 and leaves no file if a table of the console cannot be read", () =>
    Effect.gen(function* () {
      const [folder, other, url] = [yield* home, yield* home, yield* database]
      yield* readRowsAt(createLocation(folder, url)) // creates the tables
      const renameColumn = "alter table console.payment rename column cents to other"
      yield* Effect.promise(() => withConnection(url, (sql) => sql.unsafe(renameColumn)))
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
      const location = createLocation(folder)
      const stored = yield* copyExample(location)
      const { open, account } = stored
      const { account_id } = account
      const file = path.join(other, "backup.sqlite")
      yield* Effect.gen(function* () {
        const ledger = yield* Administration
        // the copy is made after the credits are booked, but before the payment is marked as paid
        yield* ledger.book({ account_id, type: "top_up", credits: 30_000, reference: open, note: "paid" })
        yield* ledger.backup({ file })
      }).pipe(Effect.provide(storesIn(location)))
      const copy = restore(other, file)
      const { payment = [] } = yield* readRowsAt(copy)
      assert.strictEqual(payment.filter((row) => row.includes('"state":"open"')).length, 1)
      yield* continueUse(copy, stored)
    }).pipe(Effect.scoped)
  )
})

describe("ledger migrate", () => {
  it.live("moves the console's data, even after a kill half-way, and keeps later changes if it is repeated", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const location = createLocation(folder)
      const stored = yield* copyExample(location)
      const before = yield* readState(location, stored)
      assert.isTrue(before.isSignedIn && before.isInvited)
      const target = createLocation(yield* home, url)
      yield* readRowsAt(target) // creates the tables
      yield* Effect.promise(() => killHalfWay(folder, url))
      assert.deepStrictEqual((yield* readRowsAt(target)).person, [])

      const moved = yield* migrate(folder, url)
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.deepInclude(JSON.parse(moved.stdout), { people: 1, payments: 2, entries: 3 })
      assert.deepStrictEqual(yield* readState(target, stored), before)

      yield* Effect.promise(() => withConnection(url, (sql) => sql`update console.request set status = 404`))
      assert.strictEqual((yield* migrate(folder, url)).code, 0)
      const request = before.rows.request?.map((row) => row.replace(":200,", ":404,")) ?? []
      assert.deepStrictEqual(yield* readRowsAt(target), { ...before.rows, request })
      yield* continueUse(target, stored)
    }).pipe(Effect.scoped)
  )

  it.live("rejects a database whose console tables contain a row, and changes nothing", () =>
    Effect.gen(function* () {
      const [folder, url] = [yield* home, yield* database]
      const location = createLocation(folder)
      const stored = yield* copyExample(location)
      const target = createLocation(yield* home, url)
      const empty = yield* readRowsAt(target) // creates the tables
      const person = "insert into console.person values ('pers_1', 'acct_1', 'bob@example.com', 'x', false, 'x')"
      yield* Effect.promise(() => withConnection(url, (sql) => sql.unsafe(person)))
      const { code, stderr } = yield* migrate(folder, url)
      assert.strictEqual(code, 1)
      assert.match(stderr, /was not moved: the database has no ledger, but 1 rows in console.person; choose an empty/)
      const after = yield* readRowsAt(target)
      assert.strictEqual(after.person?.length, 1)
      assert.deepStrictEqual({ ...after, person: [] }, empty)
      assert.isTrue((yield* readState(location, stored)).isSignedIn)
    }).pipe(Effect.scoped)
  )
})

/** Starts the command and kills it while it waits for a lock, after it has written the ledger and half of the tables. */
const killHalfWay = (folder: string, url: string) =>
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
