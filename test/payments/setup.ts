/**
 * Larder as far as money is concerned, without its listeners: a ledger, the console's tables and a card processor's stand,
 * on each kind of store. `open` starts `Billing` over them, as a server does; leaving it is a stop.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert } from "@effect/vitest"
import { type Billing, type CardProcessor, openBilling, type TestCardName, type TopUp } from "@larder/serve/billing"
import { Administration, type Entry, Ledger } from "@larder/serve/ledger"
import { allTables, ConsoleDatabase } from "@larder/serve/persistence"
import { Clock, Context, Effect, Exit, Layer, References, Schema, Scope, Semaphore, Stream } from "effect"
import { afterAll, inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { simulatorStand } from "./simulator-stand.ts"
import type { Stand } from "./stand.ts"
import { adjustableClock, byTheClock, inHaste, type Place, spender, storesIn, until } from "./stores.ts"
import { stripeStand } from "./stripe-stand.ts"

export { adjustableClock, byTheClock, inHaste, until }

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-payments-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)
export const places = {
  "an embedded ledger": Effect.map(folder, (made): Place => ({ folder: made, url: undefined })),
  PostgreSQL: Effect.gen(function* () {
    return { folder: yield* folder, url: yield* Effect.promise(() => newDatabase(inject("postgresUrl"))) } as Place
  })
}

const CardRow = Schema.Struct({ card: Schema.String })
const isOfMoney = ({ request_id, type }: Entry) => type !== "charge" && request_id !== null

export interface Account {
  readonly account_id: string
  readonly key: string
}

/** Of a new account, or of one that is there already. */
export const openShop = Effect.fnUntraced(function* (
  stand: Stand,
  putForward: (by: number) => Effect.Effect<void>,
  known?: Account
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
  const { account_id, key } = known ?? (yield* newAccount)
  let forms = 0
  let spenders = 0
  const spend = yield* spender(key, `req_${account_id}_`)
  const balance = Effect.map(administration.account({ account_id }), ({ balance_credits }) => balance_credits)
  const bookings = Effect.map(Stream.runCollect(administration.entriesOf(account_id)), (entries) =>
    entries.filter(isOfMoney)
  )

  /** A form that was sent, and the id of its payment. `card` is the mark of the saved one; null for a new one. */
  const form = (cents: number, card: string | null = null) => {
    const sent = { payment_id: "" }
    const asked: TopUp = {
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
    return { asked, sent }
  }

  return {
    account_id,
    key,
    administration,
    database,
    stand,
    putForward,
    newAccount,
    spend,
    /** Charges calls of another key of the account. */
    newSpender: Effect.fnUntraced(function* (budget_credits: number) {
      const made = yield* administration.createKey({
        account_id,
        name: "another",
        scopes: ["get-store"],
        budget_credits
      })
      return yield* Effect.provideService(spender(made.key, `req_${account_id}_${++spenders}_`), Ledger, ledger)
    }),
    balance,
    /** Entries that follow from money, as `[type, credits]`. */
    moved: Effect.map(bookings, (entries) => entries.map(({ credits, type }) => [type, credits] as const)),
    bookings,
    form,
    /** With the card that is saved now. */
    savedForm: (billing: Billing["Service"], cents: number) =>
      Effect.map(billing.settings(account_id), ({ card }) => form(cents, card?.mark ?? "none")),
    /** A server's `Billing`, from its start to its stop, with a processor, a ledger or tables of its own. */
    visit: <A, E, R>(
      work: (billing: Billing["Service"]) => Effect.Effect<A, E, R>,
      {
        processor = stand.processor,
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
          yield* Effect.yieldNow // the first look at what was left open comes before the work
          return yield* work(billing)
        })
      ).pipe(Effect.provideService(Administration, ledger), Effect.provideService(ConsoleDatabase, tables)),
    /** On the processor's page, which saves the card. Answers with the id of the payment, seen as the customer comes back. */
    buy: Effect.fnUntraced(function* (billing: Billing["Service"], cents: number, card: TestCardName) {
      const { asked, sent } = form(cents)
      const answer = yield* billing.topUp(asked)
      assert.property(answer, "redirect")
      yield* stand.pay(sent.payment_id, card)
      yield* billing.payment(account_id, sent.payment_id)
      return sent.payment_id
    }),
    /** No card but the saved one can be charged, once the processor has answered. */
    checkCards: Effect.gen(function* () {
      yield* until(
        Effect.map(database.all(CardRow, "select card from console.card_to_forget"), ({ length }) => length === 0)
      )
      const saved = yield* database.all(CardRow, "select card from console.customer where card is not null")
      assert.deepStrictEqual(
        yield* stand.savedCards,
        saved.map(({ card }) => card)
      )
    }),
    /** Money in equals credits granted, exactly; and the ledger holds. */
    checkBooks: Effect.gen(function* () {
      const granted = (yield* bookings).reduce((sum, { credits }) => sum + credits, 0)
      assert.strictEqual(granted, (yield* stand.netCents) * 10)
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    })
  }
})
export type Shop = Effect.Success<ReturnType<typeof openShop>>

/** Opens the simulator's shop of a place from its start to its stop; later once more, for the account that is there. */
export const shopAt =
  (place: Place) =>
  <A, E>(work: (shop: Shop, billing: Billing["Service"]) => Effect.Effect<A, E>, known?: Account) =>
    Effect.gen(function* () {
      const shop = yield* openShop(yield* simulatorStand, () => Effect.void, known)
      return yield* shop.visit((billing) => work(shop, billing))
    }).pipe(Effect.scoped, Effect.provide(storesIn(place)))

const stands = { "the simulator": simulatorStand, "Stripe's wire format": stripeStand } as const

export type Pair = readonly [processor: keyof typeof stands, store: keyof typeof places]
/**
 * Each processor and each kind of store once: neither knows the other, and `card-processors.test.ts` has the simulator on
 * both kinds. The long runs of kills and of two servers use all four pairs.
 */
export const pairs: ReadonlyArray<Pair> = [
  ["the simulator", "an embedded ledger"],
  ["Stripe's wire format", "PostgreSQL"]
]
export const everyPair: ReadonlyArray<Pair> = [
  ...pairs,
  ["the simulator", "PostgreSQL"],
  ["Stripe's wire format", "an embedded ledger"]
]

/**
 * Stores of a kind. Those in PostgreSQL are opened once and used by one test after another: opening them is most of what a
 * small test costs. The console's tables are empty each time; the ledger keeps the accounts of earlier tests, which have
 * nothing to do with another one's. Stores in which a test failed are not used again. A file remembers payments that were
 * removed, so each test has one of its own. No more than two tests have some at once.
 */
const storesForMany = (store: keyof typeof places) => {
  type Stores = Layer.Success<ReturnType<typeof storesIn>>
  const kept = Scope.makeUnsafe()
  const free: Array<Context.Context<Stores>> = []
  const atOnce = Semaphore.makeUnsafe(2)
  const open = Effect.gen(function* () {
    return yield* Layer.build(storesIn(yield* places[store]))
  }).pipe(Scope.provide(kept), Effect.provideService(References.MinimumLogLevel, "Fatal"))
  afterAll(() => Effect.runPromise(Scope.close(kept, Exit.void)))
  return <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const stores = free.pop() ?? (yield* open)
      const done = yield* Effect.provideContext(work, stores)
      if (store === "an embedded ledger") return done
      const { run } = Context.get(stores, ConsoleDatabase)
      yield* Effect.forEach(allTables, (table) => run(`delete from console.${table}`), { discard: true })
      free.push(stores)
      return done
    }).pipe(atOnce.withPermit)
}

/** A group of tests for each kind of store and each processor, each test in a shop of its own. */
export const inEachShop = (
  describeIn: (
    name: string,
    within: <A, E>(work: (shop: Shop) => Effect.Effect<A, E, Scope.Scope>) => Effect.Effect<void>
  ) => void,
  chosen = pairs
): void => {
  for (const [processor, store] of chosen) {
    const withStores = storesForMany(store)
    describeIn(`${processor} and ${store}`, (work) =>
      Effect.gen(function* () {
        const { clock, putForward } = yield* adjustableClock
        const inShop = Effect.gen(function* () {
          yield* work(yield* openShop(yield* stands[processor], putForward))
        })
        yield* withStores(
          Effect.scoped(inShop).pipe(
            Effect.provideService(Clock.Clock, clock),
            Effect.provideService(References.MinimumLogLevel, "Fatal") // mishaps are logged, and are wanted here
          )
        )
      }).pipe(Effect.orDie)
    )
  }
}
