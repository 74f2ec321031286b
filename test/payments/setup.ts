/**
 * A ledger, the console's tables and a card processor for tests of payments, on each kind of store, without listeners.
 * `withBilling` starts `Billing` over them, as a server does, and stops it afterwards.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert } from "@effect/vitest"
import { type Billing, openBilling } from "@larder/serve/billing"
import type { TopUp } from "@larder/serve/billing/payments.ts"
import type { CardProcessor } from "@larder/serve/billing/processor.ts"
import type { TestCardName } from "@larder/serve/billing/simulator/test-cards.ts"
import { Administration, type Entry, Ledger } from "@larder/serve/ledger"
import { allTables, ConsoleDatabase } from "@larder/serve/persistence"
import { Clock, Context, Effect, Exit, Layer, References, Schema, Scope, Semaphore, Stream } from "effect"
import { afterAll, inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { watchEvaluations } from "./evaluations.ts"
import type { ProcessorHarness } from "./processor-harness.ts"
import { simulatorHarness } from "./simulator-harness.ts"
import {
  adjustableClock,
  type Location,
  makeSpender,
  storesIn,
  until,
  withoutLongSleeps,
  withQuickSleeps,
  withSleepsByClock
} from "./stores.ts"
import { type StripeHarness, stripeHarness } from "./stripe-harness.ts"

export { adjustableClock, until, withoutLongSleeps, withQuickSleeps, withSleepsByClock }

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-payments-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)
export const locations = {
  "an embedded ledger": Effect.map(folder, (directory): Location => ({ folder: directory, url: undefined })),
  PostgreSQL: Effect.gen(function* () {
    return { folder: yield* folder, url: yield* Effect.promise(() => newDatabase(inject("postgresUrl"))) } as Location
  })
}

const CardRow = Schema.Struct({ card: Schema.String })
const isMoneyMovement = ({ request_id, type }: Entry) => type !== "charge" && request_id !== null

export interface Account {
  readonly account_id: string
  readonly key: string
}

/** For a new account, or for an existing one. */
export const openSetup = Effect.fnUntraced(function* (
  harness: ProcessorHarness,
  advanceClock: (by: number) => Effect.Effect<void>,
  existing?: Account
) {
  const ledger = yield* Ledger
  const { administration } = ledger
  const database = yield* ConsoleDatabase
  const newAccount = Effect.gen(function* () {
    const { id: account_id } = yield* administration.createAccount({ name: "Käse & Söhne" })
    const { key } = yield* administration.createKey({
      account_id,
      name: "test",
      scopes: ["get-store"],
      budget_credits: 2_000_000_000
    })
    return { account_id, key } satisfies Account
  })
  const { account_id, key } = existing ?? (yield* newAccount)
  let forms = 0
  let spenders = 0
  const evaluations = watchEvaluations()
  const spend = yield* makeSpender(key, `req_${account_id}_`)
  const balance = Effect.map(administration.account({ account_id }), ({ balance_credits }) => balance_credits)
  const bookings = Effect.map(Stream.runCollect(administration.entriesOf(account_id)), (entries) =>
    entries.filter(isMoneyMovement)
  )

  /** Returns a form, and the id of its payment once it is sent. `card` is the fingerprint of the saved card, or null. */
  const form = (cents: number, card: string | null = null) => {
    const sent = { payment_id: "" }
    const request: TopUp = {
      account_id,
      person_id: "person_1",
      email: "ada@example.test",
      cents,
      card,
      submission: `form-${++forms}`,
      success_url: (id) => {
        sent.payment_id = id
        return `http://127.0.0.1:9/billing/payments/${id}`
      },
      cancel_url: (id) => `http://127.0.0.1:9/billing/top-up?left=${id}`
    }
    return { request, sent }
  }

  return {
    account_id,
    key,
    administration,
    database,
    harness,
    advanceClock,
    /** Waits until auto-recharge has nothing left to evaluate. */
    evaluated: evaluations.evaluated,
    /** Advances the clock by a day, and waits until auto-recharge has evaluated all accounts. */
    passDay: evaluations.passDay(advanceClock),
    newAccount,
    spend,
    /** Returns a function that charges calls for another key of the account. */
    newSpender: Effect.fnUntraced(function* (budget_credits: number) {
      const created = yield* administration.createKey({
        account_id,
        name: "another",
        scopes: ["get-store"],
        budget_credits
      })
      return yield* Effect.provideService(makeSpender(created.key, `req_${account_id}_${++spenders}_`), Ledger, ledger)
    }),
    balance,
    /** Entries for money received or returned, as `[type, credits]`. */
    movements: Effect.map(bookings, (entries) => entries.map(({ credits, type }) => [type, credits] as const)),
    bookings,
    form,
    /** A form to pay with the card that is currently saved. */
    formWithSavedCard: (billing: Billing["Service"], cents: number) =>
      Effect.map(billing.settings(account_id), ({ card }) => form(cents, card?.fingerprint ?? "none")),
    /** Runs a server's `Billing` during `work`, optionally with another processor, ledger or tables. */
    withBilling: <A, E, R>(
      work: (billing: Billing["Service"]) => Effect.Effect<A, E, R>,
      {
        processor = harness.processor,
        ledger = administration,
        tables = database
      }: {
        readonly processor?: CardProcessor
        readonly ledger?: Administration["Service"]
        readonly tables?: ConsoleDatabase["Service"]
      } = {}
    ) =>
      Effect.scoped(
        Effect.gen(function* () {
          const billing = yield* openBilling(processor)
          yield* Effect.yieldNow // the first reconciliation of open payments comes before the work
          return yield* work(billing)
        })
      ).pipe(
        evaluations.watch,
        Effect.provideService(Administration, ledger),
        Effect.provideService(ConsoleDatabase, tables)
      ),
    /** Pays on the processor's page, which saves the card, and returns to the console. Returns the id of the payment. */
    buy: Effect.fnUntraced(function* (billing: Billing["Service"], cents: number, card: TestCardName) {
      const { request, sent } = form(cents)
      const result = yield* billing.topUp(request)
      assert.property(result, "redirect")
      yield* harness.pay(sent.payment_id, card)
      yield* billing.payment(account_id, sent.payment_id)
      return sent.payment_id
    }),
    /** Only the saved card can be charged, once the processor has forgotten the others. */
    checkCards: Effect.gen(function* () {
      yield* until(
        Effect.map(database.all(CardRow, "select card from console.card_to_forget"), ({ length }) => length === 0)
      )
      const saved = yield* database.all(CardRow, "select card from console.customer where card is not null")
      assert.deepStrictEqual(
        yield* harness.savedCards,
        saved.map(({ card }) => card)
      )
    }),
    /** The money received equals the credits granted, exactly, and the ledger is consistent. */
    checkBooks: Effect.gen(function* () {
      const granted = (yield* bookings).reduce((sum, { credits }) => sum + credits, 0)
      assert.strictEqual(granted, (yield* harness.netCents) * 10)
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    })
  }
})
export type Setup = Effect.Success<ReturnType<typeof openSetup>>

/** A setup in which payments can also be disputed. */
export type StripeSetup = Setup & { readonly harness: StripeHarness }

export type StoreKind = keyof typeof locations
export const storeKinds = ["an embedded ledger", "PostgreSQL"] as const satisfies ReadonlyArray<StoreKind>

/**
 * Provides stores of one kind to tests. Stores in PostgreSQL are opened once and reused by later tests, because opening
 * them takes most of the time of a small test. The console's tables are empty each time; the ledger keeps the accounts of
 * earlier tests, which do not affect later ones. Stores are not reused after a failed test. An embedded ledger keeps the
 * records of deleted payments, so each test gets a new one. At most two tests use stores at the same time.
 */
const makeStoreProvider = (store: StoreKind) => {
  type Stores = Layer.Success<ReturnType<typeof storesIn>>
  const scope = Scope.makeUnsafe()
  const free: Array<Context.Context<Stores>> = []
  const slots = Semaphore.makeUnsafe(2)
  const open = Effect.gen(function* () {
    return yield* Layer.build(storesIn(yield* locations[store]))
  }).pipe(Scope.provide(scope), Effect.provideService(References.MinimumLogLevel, "Fatal"))
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const stores = free.pop() ?? (yield* open)
      const result = yield* Effect.provideContext(work, stores)
      if (store === "an embedded ledger") return result
      const { run } = Context.get(stores, ConsoleDatabase)
      yield* Effect.forEach(allTables, (table) => run(`delete from console.${table}`), { discard: true })
      free.push(stores)
      return result
    }).pipe(slots.withPermit)
}

/** Runs the work of a test with its own setup. */
type Within<S> = <A, E>(work: (setup: S) => Effect.Effect<A, E, Scope.Scope>) => Effect.Effect<void>

const makeWithin = <H extends ProcessorHarness, E>(
  harness: Effect.Effect<H, E, ConsoleDatabase | Scope.Scope>,
  store: StoreKind
): Within<Setup & { readonly harness: H }> => {
  const withStores = makeStoreProvider(store)
  return (work) =>
    Effect.gen(function* () {
      const { clock, advanceClock } = yield* adjustableClock
      const inSetup = Effect.gen(function* () {
        const opened = yield* harness
        yield* work({ ...(yield* openSetup(opened, advanceClock)), harness: opened })
      })
      yield* withStores(
        Effect.scoped(inSetup).pipe(
          Effect.provideService(Clock.Clock, clock),
          Effect.provideService(References.MinimumLogLevel, "Fatal") // expected faults are logged as warnings and errors
        )
      )
    }).pipe(Effect.orDie)
}

/**
 * A group of tests for each processor, each with another kind of store, because they are independent:
 * `card-processors.test.ts` runs the simulator on both kinds. Each test has its own setup.
 */
export const inEachSetup = (describeIn: (name: string, within: Within<Setup>) => void): void => {
  describeIn("the simulator and an embedded ledger", makeWithin(simulatorHarness, "an embedded ledger"))
  describeIn("Stripe's wire format and PostgreSQL", makeWithin(stripeHarness, "PostgreSQL"))
}

/** A group of tests with Stripe's wire format for each kind of store. Each test has its own setup. */
export const inEachStripeSetup = (describeIn: (name: string, within: Within<StripeSetup>) => void): void => {
  for (const store of storeKinds) describeIn(`Stripe's wire format and ${store}`, makeWithin(stripeHarness, store))
}
