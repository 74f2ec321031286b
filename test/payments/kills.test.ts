/**
 * Kills processes that work with money, with -9, at stages before and after each thing that becomes durable, here or at
 * the card processor; meanwhile customers pay, money goes back, the processor is away or slow or loses answers, and events
 * come twice, late, in another order, and forged. In the end money in equals credits granted, exactly.
 * Two kills take ten seconds on each kind of store; `LARDER_CRASH_KILLS` says how many, `LARDER_CRASH_SEED` repeats
 * them.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { signatureHeader } from "@larder/serve/billing/simulator/signature.ts"
import type { ConsoleDatabase, ConsoleUnavailable } from "@larder/serve/console-database/console-database.ts"
import { Clock, Effect, References, Schema, type Scope } from "effect"
import { type Chance, chanceFrom, newSeed } from "../crash/chance.ts"
import type { Work } from "./payer.ts"
import { type Account, adjustableClock, openShop, places, type Shop, until } from "./shop.ts"
import { simulatorStand } from "./simulator-stand.ts"
import type { Stand } from "./stand.ts"
import { storesIn } from "./stores.ts"
import { stripeStandWithHost } from "./stripe-stand.ts"
import { type Stage, stages } from "./stumbling.ts"

const kills = Number(process.env.LARDER_CRASH_KILLS ?? 2)
const longest = 90_000 + kills * 20_000
const payer = fileURLToPath(new URL("./payer.ts", import.meta.url))

const worksWell = ({ outage, slow }: Stand) => Effect.andThen(outage(false), slow(false))

/** Where the processor is: in the same database, or a host on this machine that nobody kills. */
type Processor = Effect.Effect<
  {
    readonly stand: Effect.Effect<Stand, ConsoleUnavailable, ConsoleDatabase | Scope.Scope>
    readonly url: string | null
    /** Ends what the host outside of the payer plays. */
    readonly endMishap: Effect.Effect<void>
  },
  never,
  Scope.Scope
>
const processors: Readonly<Record<"the simulator" | "Stripe's wire format", Processor>> = {
  "the simulator": Effect.succeed({ stand: simulatorStand, url: null, endMishap: Effect.void }),
  "Stripe's wire format": Effect.map(stripeStandWithHost, ({ host, stand }) => ({
    stand: Effect.succeed(stand),
    url: host.url,
    endMishap: worksWell(stand)
  }))
}

/** Ends by itself and tells how often it has met each stage, or is killed: undefined. */
const runPayer = (work: Work, onBegun: () => void) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [payer, JSON.stringify(work)], { stdio: ["ignore", "pipe", "inherit"] })
    const told: Array<Buffer> = []
    child.stdout.once("data", onBegun)
    child.stdout.on("data", (chunk: Buffer) => told.push(chunk))
    const [code, signal] = await once(child, "close")
    if (signal === "SIGKILL") return undefined
    assert.strictEqual(code, 0)
    return JSON.parse(Buffer.concat(told).toString().replace("begun", "")) as Met // the payer writes it
  })

/** What the processor does for a while after the payer has begun. Who has asked a slow one waits ten seconds. */
const mishaps = ["none", "none", "none", "outage", "outage", "slow"] as const
const mishapLasts = { none: 0, outage: 1_000, slow: 300 }

type Met = Partial<Record<Stage, number>>

const Row = Schema.Struct({ id: Schema.String, state: Schema.String, card: Schema.NullOr(Schema.String) })
const rowsOf = ({ database }: Shop) =>
  database.all(Row, "select id, state, card from console.payment order by created_at, id")

/** What is not possible for this payment does not happen. */
const perhaps = <A>(work: Effect.Effect<A>) => Effect.catchCause(work, () => Effect.succeed(undefined))

const eventOf = ({ stand }: Shop, id: string) =>
  Effect.map(perhaps(stand.event(id)), (event) => {
    if (event === undefined) return []
    const names = ["stripe-signature", signatureHeader]
    const headers = Object.fromEntries(
      names.flatMap((name) => (event.header(name) ? [[name, event.header(name) ?? ""]] : []))
    )
    return [{ body: event.body, headers, isForged: false }]
  })

interface Dispute {
  readonly payment_id: string
  readonly id: string
}

/**
 * Customers pay on open pages, some money goes back, some disputes end, an answer will get lost, the processor may be away or
 * slow. Answers with events, some of them twice and some of them forged.
 */
const happen = Effect.fnUntraced(function* (shop: Shop, chance: Chance, disputes: Array<Dispute>) {
  const { stand } = shop
  yield* worksWell(stand) // who was killed has left it as it was
  const rows = yield* rowsOf(shop)
  const about = new Set<string>()
  for (const { card, id, state } of rows) {
    if (state !== "open" || card !== null || chance.between(0, 2) === 0) continue
    yield* perhaps(stand.pay(id, chance.oneOf(["good", "mastercard", "declined"])))
    about.add(id)
  }
  const paid = rows.filter(({ state }) => state === "succeeded")
  const chosen = paid[chance.between(0, paid.length - 1)]
  if (chosen !== undefined) {
    about.add(chosen.id)
    if (chance.between(0, 2) === 0) {
      const id = yield* perhaps(stand.dispute(chosen.id))
      if (id !== undefined) disputes.push({ payment_id: chosen.id, id })
    } else {
      const refund = yield* perhaps(stand.refund(chosen.id, chance.between(1, 5_00)))
      if (refund !== undefined && chance.between(0, 2) === 0) yield* stand.failRefund(chosen.id, refund)
    }
  }
  if (chance.between(0, 3) === 0) yield* stand.loseNextAnswer
  const ending = chance.between(0, 1) === 0 ? disputes.shift() : undefined
  if (ending !== undefined) {
    yield* stand.closeDispute(ending.payment_id, ending.id, chance.oneOf(["won", "lost"]))
    about.add(ending.payment_id)
  }
  const events = (yield* Effect.forEach(about, (id) => eventOf(shop, id))).flat()
  const mishap = chance.oneOf(mishaps)
  if (mishap === "outage") yield* stand.outage(true)
  if (mishap === "slow") yield* stand.slow(true)
  const forged = ({ body, headers }: (typeof events)[number]) => ({ body: `${body} `, headers, isForged: true })
  const sent = events.flatMap((event) =>
    chance.oneOf([[event], [event, event], [forged(event), event], [event, event, forged(event)]])
  )
  return { events: sent.toReversed(), mishap }
})

const history = Effect.fnUntraced(function* (
  processor: keyof typeof processors,
  store: keyof typeof places,
  seed: number
) {
  const chance = chanceFrom(seed)
  const { clock, putForward } = yield* adjustableClock
  const place = yield* places[store]
  const { endMishap, stand, url } = yield* Effect.provideService(processors[processor], Clock.Clock, clock)
  const inShop = <A, E>(work: (shop: Shop) => Effect.Effect<A, E, Scope.Scope>, account?: Account) =>
    Effect.gen(function* () {
      return yield* work(yield* openShop(yield* stand, putForward, account))
    }).pipe(
      Effect.scoped,
      Effect.provide(storesIn(place)),
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(References.MinimumLogLevel, "Fatal")
    )

  const account = yield* inShop(({ account_id, buy, key, visit }) =>
    Effect.as(
      visit((billing) => buy(billing, 100_00, "good")),
      { account_id, key }
    )
  )
  const disputes: Array<Dispute> = []
  let killed = 0
  let met: Met = {}
  const first = chance.between(0, stages.length - 1)
  for (let number = 0; killed < kills || number === 0; number++) {
    const { events, mishap } = yield* inShop((shop) => happen(shop, chance, disputes), account)
    const stage = stages[(first + number * 5) % stages.length] ?? "before a booking" // in turn: five and fourteen share no divisor
    const end = number === 0 ? null : { stage, time: chance.between(1, Math.max(1, met[stage] ?? 0)) }
    const lasts = mishapLasts[mishap]
    const work = { place, stripe: url, end, ...account, run: `run${number}`, events, mishapLasts: lasts }
    const ended = yield* runPayer(work, () => setTimeout(() => Effect.runFork(endMishap), lasts))
    if (ended === undefined) killed++
    else met = ended
  }

  // what is still open is decided within a day: pages expire, and what never reached the processor is given up
  yield* putForward(25 * 3_600_000)
  return yield* inShop(
    (shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          yield* worksWell(shop.stand)
          yield* until(Effect.map(rowsOf(shop), (rows) => rows.every(({ state }) => state !== "open")))
          for (const { id, state } of yield* rowsOf(shop)) {
            if (state !== "succeeded") continue
            const { body, header } = yield* shop.stand.event(id)
            yield* billing.webhook(body, header)
          }
          assert.isFalse((yield* billing.settings(account.account_id)).recharge.running)
          yield* shop.checkBooks
          yield* shop.checkCards
          const succeeded = (yield* rowsOf(shop)).filter(({ state }) => state === "succeeded")
          assert.strictEqual(succeeded.length, yield* shop.stand.paid)
          return { killed, paid: succeeded.length, bookings: (yield* shop.bookings).length }
        })
      ),
    account
  )
})

describe("processes that work with money and are hit by kill -9", () => {
  for (const processor of ["the simulator", "Stripe's wire format"] as const) {
    for (const store of ["an embedded ledger", "PostgreSQL"] as const) {
      it.live(
        `book each payment, refund and dispute once: ${processor}, ${store}`,
        () =>
          Effect.gen(function* () {
            const seed = newSeed()
            const counts = yield* history(processor, store, seed).pipe(
              Effect.tapCause(() => Effect.sync(() => console.error(`LARDER_CRASH_SEED=${seed}`)))
            )
            console.log(`${processor}, ${store}, LARDER_CRASH_SEED=${seed}: ${JSON.stringify(counts)}`)
          }).pipe(Effect.scoped, Effect.orDie),
        longest
      )
    }
  }
})
