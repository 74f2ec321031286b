/** Servers that share a database book the same recharge, or two payments of an account, at the same moment. */
import { assert, describe, it } from "@effect/vitest"
import { book } from "@larder/serve/billing/book.ts"
import { expireOpenPayment, findPayment, toPaymentQuery } from "@larder/serve/billing/payment-rows.ts"
import { endRecharge } from "@larder/serve/billing/recharges/rows.ts"
import { postgresConsole } from "@larder/serve/ledger"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, References, Schema } from "effect"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { locations, openSetup, type Setup, until } from "./setup.ts"
import { simulatorHarness } from "./simulator-harness.ts"
import { type Location, storesIn } from "./stores.ts"

const Waiting = Schema.Struct({ pid: Schema.Int })
const waiting = `
  select pid
  from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`

/** Opens the tables over separate connections, like another server. Over shared ones, a statement could wait for a transaction. */
const connectOtherServer = ({ url }: Location) =>
  Effect.map(Layer.fresh(postgresConsole(Redacted.make(url ?? ""))).pipe(Layer.build), (built) =>
    Context.get(built, ConsoleDatabase)
  )
/** Returns an effect that ends once a transaction waits for another one. */
const makeWaitForLock = (location: Location) =>
  Effect.map(connectOtherServer(location), (database) =>
    until(Effect.map(database.all(Waiting, waiting), ({ length }) => length > 0))
  )

describe("two servers on PostgreSQL", () => {
  it.live("save one card and forget the others when they book two new cards concurrently", () =>
    Effect.gen(function* () {
      const location = yield* locations.PostgreSQL
      yield* Effect.gen(function* () {
        const untilLocked = yield* makeWaitForLock(location)
        const otherDatabase = yield* connectOtherServer(location)
        const { administration, buy, checkBooks, checkCards, database, form, harness, withBilling } = yield* openSetup(
          yield* simulatorHarness,
          () => Effect.void
        )
        const { processor } = harness
        yield* withBilling((billing) => buy(billing, 20_00, "good"))
        // send both forms before either is paid, because an open Billing books paid payments on its own
        const forms = [form(20_00), form(20_00)] as const
        yield* withBilling((billing) => Effect.forEach(forms, ({ request }) => billing.topUp(request)))
        /** The customer pays on the processor's page; the payment is not booked yet. */
        const payWithoutBooking = Effect.fnUntraced(function* (payment_id: string, card: "mastercard" | "amex") {
          yield* harness.pay(payment_id, card)
          const payment = yield* findPayment(database, payment_id)
          if (payment === undefined) return yield* Effect.die("no payment was recorded")
          assert.strictEqual(payment.state, "open")
          const retrieved = yield* processor.retrieve(toPaymentQuery(payment))
          return retrieved === undefined ? yield* Effect.die("the processor has no payment") : { payment, retrieved }
        })
        const first = yield* payWithoutBooking(forms[0].sent.payment_id, "mastercard")
        const second = yield* payWithoutBooking(forms[1].sent.payment_id, "amex")
        const firstDone = yield* Deferred.make<void>()
        const lockQueued = yield* Deferred.make<void>()
        const slow: Setup["database"] = {
          ...database,
          transaction: (work) =>
            database.transaction((db) =>
              work(db).pipe(Effect.tap(Deferred.succeed(firstDone, undefined)), Effect.tap(Deferred.await(lockQueued)))
            )
        }
        const needsOf = (tables: Setup["database"]) => ({
          administration,
          database: tables,
          processor,
          requestEvaluation: () => {}
        })
        const secondBooking = Effect.andThen(
          Deferred.await(firstDone),
          book(needsOf(otherDatabase), second.payment, second.retrieved)
        )
        const watched = Deferred.await(firstDone).pipe(
          Effect.andThen(untilLocked),
          Effect.andThen(Deferred.succeed(lockQueued, undefined))
        )
        yield* Effect.all([watched, secondBooking, book(needsOf(slow), first.payment, first.retrieved)], {
          concurrency: 3
        })
        yield* checkCards
        assert.strictEqual((yield* harness.savedCards).length, 1)
        yield* checkBooks
      }).pipe(Effect.provide(storesIn(location)), Effect.provideService(References.MinimumLogLevel, "Fatal"))
    }).pipe(Effect.scoped, Effect.orDie)
  )

  it.live("do not deadlock when one expires a recharge and the other books it", () =>
    Effect.gen(function* () {
      const location = yield* locations.PostgreSQL
      yield* Effect.gen(function* () {
        const untilLocked = yield* makeWaitForLock(location)
        const otherDatabase = yield* connectOtherServer(location)
        const setup = yield* openSetup(yield* simulatorHarness, () => Effect.void)
        const { account_id, administration, database, harness, withBilling } = setup
        yield* withBilling((billing) =>
          Effect.gen(function* () {
            yield* setup.buy(billing, 10_00, "good")
            yield* saveRecharge(billing, account_id, rechargeChoice({ cents: 20_00, trigger_credits: 5_000 }))
          })
        )
        yield* setup.spend(14_000)
        // the response never arrives, so the recharge is open and paid
        const withoutResponse = { ...harness.processor, charge: () => Effect.never }
        const id = yield* withBilling(
          (billing) =>
            Effect.gen(function* () {
              yield* until(Effect.map(billing.settings(account_id), ({ recharge }) => recharge.is_recharging))
              const [payment] = yield* billing.payments(account_id, { before: null, limit: 1 })
              return payment?.id ?? ""
            }),
          { processor: withoutResponse }
        )
        const [saved] = yield* database.all(
          Schema.Struct({ customer: Schema.String, card: Schema.String }),
          "select customer, card from console.customer"
        )
        if (saved === undefined) return yield* Effect.die("no card was saved")
        const created_at = new Date().toISOString()
        const retrieved = yield* harness.processor.charge({
          payment_id: id,
          account_id,
          cents: 20_00,
          created_at,
          ...saved
        })
        const expiredAt = new Date(Date.now() + 60_000).toISOString()
        const locked = yield* Deferred.make<void>()
        const lockQueued = yield* Deferred.make<void>()
        const payment = yield* findPayment(database, id)
        if (payment === undefined) return yield* Effect.die("no payment was recorded")
        const needs = {
          administration,
          database: otherDatabase,
          processor: harness.processor,
          requestEvaluation: () => {}
        }
        const withReference = { ...payment, reference: retrieved.reference } // so that booking writes only the two rows
        const booking = yield* Effect.forkChild(
          Effect.andThen(Deferred.await(locked), book(needs, withReference, retrieved))
        )
        yield* Effect.forkChild(
          Deferred.await(locked).pipe(
            Effect.andThen(untilLocked),
            Effect.andThen(Deferred.succeed(lockQueued, undefined))
          )
        )
        yield* database.transaction((db) =>
          Effect.gen(function* () {
            assert.isTrue(yield* expireOpenPayment(db, id, expiredAt, "expired", expiredAt))
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(lockQueued)
            yield* endRecharge(db, account_id, id)
          })
        )
        yield* Fiber.join(booking)
        assert.strictEqual((yield* findPayment(database, id))?.state, "succeeded")
        yield* setup.checkBooks
      }).pipe(Effect.provide(storesIn(location)), Effect.provideService(References.MinimumLogLevel, "Fatal"))
    }).pipe(Effect.scoped, Effect.orDie)
  )
})
