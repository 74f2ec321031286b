/** Servers that share a database book the same recharge, or two payments of an account, at the same moment. */
import { assert, describe, it } from "@effect/vitest"
import { endRecharge, expireOpen, findPayment, makeBook, toQuery } from "@larder/serve/billing"
import { postgresConsole } from "@larder/serve/ledger"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, References, Schema } from "effect"
import { openShop, places, type Shop, until } from "./shop.ts"
import { simulatorStand } from "./simulator-stand.ts"
import { type Place, storesIn } from "./stores.ts"

const Waiting = Schema.Struct({ pid: Schema.Int })
const waiting = `
  select pid
  from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`

/** The tables by connections of their own, as another server has them: a statement may wait behind a transaction of the same ones. */
const otherServer = ({ url }: Place) =>
  Effect.map(Layer.fresh(postgresConsole(Redacted.make(url ?? ""))).pipe(Layer.build), (built) =>
    Context.get(built, ConsoleDatabase)
  )
/** Some transaction waits for another one. */
const makeUntilOneWaits = (place: Place) =>
  Effect.map(otherServer(place), (database) =>
    until(Effect.map(database.all(Waiting, waiting), ({ length }) => length > 0))
  )

describe("two servers on PostgreSQL", () => {
  it.live("save one card and forget the others when they book two new cards at once", () =>
    Effect.gen(function* () {
      const place = yield* places.PostgreSQL
      yield* Effect.gen(function* () {
        const untilOneWaits = yield* makeUntilOneWaits(place)
        const other = yield* otherServer(place)
        const { administration, buy, checkBooks, checkCards, database, form, stand, visit } = yield* openShop(
          yield* simulatorStand,
          () => Effect.void
        )
        const { processor } = stand
        yield* visit((billing) => buy(billing, 20_00, "good"))
        // both forms before either is paid: Billing books by itself what is paid while it is open
        const forms = [form(20_00), form(20_00)] as const
        yield* visit((billing) => Effect.forEach(forms, ({ asked }) => billing.topUp(asked)))
        /** Paid on the processor's page, and not booked. */
        const paid = Effect.fnUntraced(function* (payment_id: string, card: "mastercard" | "amex") {
          yield* stand.pay(payment_id, card)
          const payment = yield* findPayment(database, payment_id)
          if (payment === undefined) return yield* Effect.die("no payment was written down")
          assert.strictEqual(payment.state, "open")
          const retrieved = yield* processor.retrieve(toQuery(payment))
          return retrieved === undefined ? yield* Effect.die("the processor knows no payment") : { payment, retrieved }
        })
        const first = yield* paid(forms[0].sent.payment_id, "mastercard")
        const second = yield* paid(forms[1].sent.payment_id, "amex")
        const isDone = yield* Deferred.make<void>()
        const waits = yield* Deferred.make<void>()
        const slow: Shop["database"] = {
          ...database,
          transaction: (work) =>
            database.transaction((db) =>
              work(db).pipe(Effect.tap(Deferred.succeed(isDone, undefined)), Effect.tap(Deferred.await(waits)))
            )
        }
        const bookWith = (tables: Shop["database"]) =>
          makeBook({ administration, database: tables, processor, mark: () => {} })
        const later = Effect.andThen(Deferred.await(isDone), bookWith(other)(second.payment, second.retrieved))
        const watched = Deferred.await(isDone).pipe(
          Effect.andThen(untilOneWaits),
          Effect.andThen(Deferred.succeed(waits, undefined))
        )
        yield* Effect.all([watched, later, bookWith(slow)(first.payment, first.retrieved)], { concurrency: 3 })
        yield* checkCards
        assert.strictEqual((yield* stand.savedCards).length, 1)
        yield* checkBooks
      }).pipe(Effect.provide(storesIn(place)), Effect.provideService(References.MinimumLogLevel, "Fatal"))
    }).pipe(Effect.scoped, Effect.orDie)
  )

  it.live("do not wait for each other when one gives up a recharge and the other one books it", () =>
    Effect.gen(function* () {
      const place = yield* places.PostgreSQL
      yield* Effect.gen(function* () {
        const untilOneWaits = yield* makeUntilOneWaits(place)
        const other = yield* otherServer(place)
        const shop = yield* openShop(yield* simulatorStand, () => Effect.void)
        const { account_id, administration, database, stand, visit } = shop
        yield* visit((billing) =>
          Effect.gen(function* () {
            yield* shop.buy(billing, 10_00, "good")
            yield* billing.saveRecharge(account_id, { is_on: true, cents: 20_00, trigger_credits: 5_000 })
          })
        )
        yield* shop.spend(14_000)
        // the answer never arrives, so that the recharge is open and paid
        const away = { ...stand.processor, charge: () => Effect.never }
        const id = yield* visit(
          (billing) =>
            Effect.gen(function* () {
              yield* until(Effect.map(billing.settings(account_id), ({ recharge }) => recharge.is_recharging))
              const [payment] = yield* billing.payments(account_id, { before: null, limit: 1 })
              return payment?.id ?? ""
            }),
          { processor: away }
        )
        const [saved] = yield* database.all(
          Schema.Struct({ customer: Schema.String, card: Schema.String }),
          "select customer, card from console.customer"
        )
        if (saved === undefined) return yield* Effect.die("no card was saved")
        const created_at = new Date().toISOString()
        const retrieved = yield* stand.processor.charge({
          payment_id: id,
          account_id,
          cents: 20_00,
          created_at,
          ...saved
        })
        const later = new Date(Date.now() + 60_000).toISOString()
        const locked = yield* Deferred.make<void>()
        const waits = yield* Deferred.make<void>()
        const payment = yield* findPayment(database, id)
        if (payment === undefined) return yield* Effect.die("no payment was written down")
        const book = makeBook({ administration, database: other, processor: stand.processor, mark: () => {} })
        const known = { ...payment, reference: retrieved.reference } // nothing is left to write before the two rows
        const booking = yield* Effect.forkChild(Effect.andThen(Deferred.await(locked), book(known, retrieved)))
        yield* Effect.forkChild(
          Deferred.await(locked).pipe(Effect.andThen(untilOneWaits), Effect.andThen(Deferred.succeed(waits, undefined)))
        )
        yield* database.transaction((db) =>
          Effect.gen(function* () {
            assert.isTrue(yield* expireOpen(db, id, later, "given up", later))
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(waits)
            yield* endRecharge(db, account_id, id)
          })
        )
        yield* Fiber.join(booking)
        assert.strictEqual((yield* findPayment(database, id))?.state, "succeeded")
        yield* shop.checkBooks
      }).pipe(Effect.provide(storesIn(place)), Effect.provideService(References.MinimumLogLevel, "Fatal"))
    }).pipe(Effect.scoped, Effect.orDie)
  )
})
