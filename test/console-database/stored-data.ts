/**
 * A ledger and a console in use: a person who can sign in, a removed person, payments in several states, a saved card,
 * auto-recharge and requests.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert } from "@effect/vitest"
import { People } from "@larder/serve/people"
import { allTables, ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, Layer, Option, Schema } from "effect"
import { type Account, openSetup } from "../payments/setup.ts"
import { simulatorHarness } from "../payments/simulator-harness.ts"
import { type Location, storesIn } from "../payments/stores.ts"
import { layerPeople } from "../people/joined.ts"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"

export const home = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-home-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Creates the ledger's folder in a home. `url` is the database, if the tables are in PostgreSQL. */
export const createLocation = (folder: string, url?: string): Location => {
  mkdirSync(path.join(folder, "ledger"), { recursive: true, mode: 0o700 })
  return { folder: path.join(folder, "ledger"), url }
}

/** Opens the stores like a server, and closes them after the work. */
const runOpened = <A, E, R>(location: Location, work: Effect.Effect<A, E, R>) =>
  Effect.provide(work, Layer.fresh(layerPeople.pipe(Layer.provideMerge(storesIn(location)))))

const Row = Schema.Record(Schema.String, Schema.Unknown)
/** The rows of all tables. */
const readRows = Effect.gen(function* () {
  const { all } = yield* ConsoleDatabase
  const tables = yield* Effect.forEach(allTables, (name) =>
    Effect.map(
      all(Row, `select * from console.${name}`),
      (found) => [name, found.map((row) => JSON.stringify(row)).toSorted()] as const
    )
  )
  return Object.fromEntries(tables)
})

export const email = "ada@example.com"
export const password = "lantern oyster gravel"

export interface StoredData {
  readonly account: Account
  /** A partly refunded payment, and one whose customer is still on the payment page. */
  readonly paid: string
  readonly open: string
  readonly session: string
  readonly invitation: string
}

export const fill = (location: Location) =>
  runOpened(
    location,
    Effect.gen(function* () {
      const harness = yield* simulatorHarness
      const setup = yield* openSetup(harness, () => Effect.void)
      const { account_id, key } = setup
      const people = yield* People
      const { token } = yield* people.invite({ account_id, email, is_operator: true })
      const { person: ann, token: session } = yield* people.accept({ token, email, password })
      yield* people.formOwner(ann) // writes the secret of the forms
      const former = yield* people.invite({ account_id, email: "former@example.com", is_operator: false })
      const { person } = yield* people.accept({ token: former.token, email: "", password })
      yield* people.remove(person.id)
      const invitation = (yield* people.invite({ account_id, email: null, is_operator: true })).token
      const { run } = yield* ConsoleDatabase
      yield* run(
        `insert into console.request values ('req_ä', '${account_id}', 'k', '/v1/stores', 200, 1, 0.125, '2026-11-01T00:00:00.000Z', null, null)`
      )
      // a card at a processor that is not in use: the row stays until that processor is used again
      yield* run("insert into console.card_to_forget values ('pm_1', 'stripe', '2026-11-01T00:00:00.000Z')")
      yield* run(
        `insert into console.usage_of_status values ('2026-11-01', '${account_id}', 'k', '/v1/stores', 200, 2000000000)`
      )
      yield* run(
        `insert into console.status_of_endpoint values ('${account_id}', '2026-11-01', '/v1/stores', 200, 2000000000)`
      )
      yield* run(
        "insert into console.notified_state values ('storefronts store a', 'late', '2026-11-01T00:00:00.000Z')"
      )
      yield* run("insert into console.notifier values ('freshness', 'a', '2026-11-01T00:03:00.000Z')")
      yield* run("insert into console.mailed_link values ('ada@example.com', 1, '2026-11-01T00:00:00.000Z')")
      return yield* setup.withBilling((billing) =>
        Effect.gen(function* () {
          const paid = yield* setup.buy(billing, 50_00, "good")
          yield* harness.refund(paid, 10_00)
          const { body, header } = yield* harness.event(paid)
          yield* billing.webhook(body, header)
          yield* saveRecharge(billing, account_id, rechargeChoice({ cents: 20_00, trigger_credits: 1_000 }))
          yield* billing.saveLowBalance(account_id, 2_000)
          const { request, sent } = setup.form(30_00)
          yield* billing.topUp(request)
          assert.deepStrictEqual(yield* setup.movements, [
            ["top_up", 50_000],
            ["refund", -10_000]
          ])
          const stored: StoredData = { account: { account_id, key }, paid, open: sent.payment_id, session, invitation }
          return stored
        })
      )
    }).pipe(Effect.scoped)
  )

export const readRowsAt = (location: Location) => runOpened(location, readRows)

const Recharge = Schema.Struct({
  is_on: Schema.Boolean,
  cents: Schema.Int,
  off_reason: Schema.NullOr(Schema.String)
})
/** The rows, the recharge, and whether the session and the invitation are still valid. */
export const readState = (location: Location, { invitation, session }: StoredData) =>
  runOpened(
    location,
    Effect.gen(function* () {
      const people = yield* People
      const { all } = yield* ConsoleDatabase
      const [recharge] = yield* all(Recharge, "select is_on, cents, off_reason from console.recharge")
      return {
        rows: yield* readRows,
        isSignedIn: Option.isSome(yield* people.session(session)),
        isInvited: Option.isSome(yield* people.invitation(invitation)),
        recharge
      }
    })
  )

/** Signs in, finds the payments, and completes the open one. Each payment is in the ledger once. */
export const continueUse = (location: Location, { account, open, paid }: StoredData) =>
  runOpened(
    location,
    Effect.gen(function* () {
      const people = yield* People
      const { person } = yield* people.signIn({ email, password, address: "192.0.2.7" })
      assert.deepStrictEqual([person.account_id, person.is_operator], [account.account_id, true])
      const harness = yield* simulatorHarness
      const setup = yield* openSetup(harness, () => Effect.void, account)
      yield* setup.withBilling((billing) =>
        Effect.gen(function* () {
          const before = yield* billing.payment(account.account_id, paid)
          assert.deepInclude(before, { state: "succeeded", cents: 50_00 })
          const { body, header } = yield* harness.event(paid)
          yield* billing.webhook(body, header)
          yield* harness.pay(open, "good")
          yield* Effect.all([billing.payment(account.account_id, open), billing.payment(account.account_id, open)], {
            concurrency: 2
          })
          assert.strictEqual((yield* billing.payment(account.account_id, open)).state, "succeeded")
          assert.deepStrictEqual((yield* billing.settings(account.account_id)).card?.last4, "4242")
        })
      )
      assert.deepStrictEqual(yield* setup.movements, [
        ["top_up", 50_000],
        ["refund", -10_000],
        ["top_up", 30_000]
      ])
      yield* setup.checkBooks
    }).pipe(Effect.scoped)
  )
