/**
 * Kills processes that work with money, with -9, at stages before and after each thing that becomes durable, here or at
 * the card processor; meanwhile customers pay, money goes back, the processor is away or slow or loses answers, and events
 * come twice, late, in another order, and forged: each in its turn. In the end money in equals credits granted, exactly.
 * `LARDER_CRASH_SEED` repeats a history.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { maxRequestMs } from "@larder/serve/billing"
import type { ConsoleDatabase, ConsoleUnavailable } from "@larder/serve/persistence"
import { Clock, Effect, References, type Scope } from "effect"
import { chanceFrom, newSeed } from "../crash/chance.ts"
import { allMishaps, type Mishap, metBy, mishapLasts, openMishaps, rowsOf, worksWell } from "./mishaps.ts"
import type { Work } from "./payer.ts"
import { type Account, adjustableClock, openShop, type Pair, places, type Shop, until } from "./shop.ts"
import { simulatorStand } from "./simulator-stand.ts"
import type { Stand } from "./stand.ts"
import { storesIn } from "./stores.ts"
import { stripeStandWithHost } from "./stripe-stand.ts"
import { type Stage, stages } from "./stumbling.ts"

/** So many that each mishap is met, although processes are killed before they meet theirs. */
const enough = 60
const payer = fileURLToPath(new URL("./payer.ts", import.meta.url))

/** Where the processor is: in the same database, or a host on this machine that is not killed. */
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
const processors: Readonly<Record<Pair[0], Processor>> = {
  "the simulator": Effect.succeed({ stand: simulatorStand, url: null, endMishap: Effect.void }),
  "Stripe's wire format": Effect.map(stripeStandWithHost, ({ host, stand }) => ({
    stand: Effect.succeed(stand),
    url: host.url,
    endMishap: worksWell(stand)
  }))
}

/** What it has told, and how often it has met each stage where it has ended by itself. */
const runPayer = (work: Work, onBegun: () => void) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [payer, JSON.stringify(work)], { stdio: ["ignore", "pipe", "inherit"] })
    const chunks: Array<Buffer> = []
    child.stdout.once("data", onBegun)
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    const [code, signal] = await once(child, "close")
    const told = Buffer.concat(chunks).toString().trim().split("\n")
    if (signal === "SIGKILL") return { told, stagesMet: undefined }
    assert.strictEqual(code, 0)
    return { told, stagesMet: JSON.parse(told.at(-1) ?? "") as Met } // the payer writes it
  })

type Met = Partial<Record<Stage, number>>

const history = Effect.fnUntraced(function* (
  processor: keyof typeof processors,
  store: keyof typeof places,
  kills: number,
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
  const happen = openMishaps(chance)
  const mishaps = new Map<Mishap, number>()
  let killed = 0
  let ahead = 0
  let met: Met = {}
  const first = chance.between(0, stages.length - 1)
  for (let number = 0; killed < kills || number === 0; number++) {
    const { events, money, ofProcessor } = yield* inShop(happen, account)
    const stage = stages[(first + number * 5) % stages.length] ?? "before a booking" // in turn: five and fourteen share no divisor
    const end = number === 0 ? null : { stage, time: chance.between(1, Math.max(1, met[stage] ?? 0)) }
    const lasts = mishapLasts[ofProcessor]
    const work = { place, stripe: url, end, ...account, run: `run${number}`, ahead, events, mishapLasts: lasts }
    const { stagesMet, told } = yield* runPayer(work, () => setTimeout(() => Effect.runFork(endMishap), lasts))
    const around = metBy(ofProcessor, told)
    // the first one is not killed: it meets what the processor plays, and forged events, or those that come twice and late
    if (number === 0) assert.isAtLeast(around.length, 2)
    for (const mishap of [money, ...around]) mishaps.set(mishap, (mishaps.get(mishap) ?? 0) + 1)
    if (told.includes("later")) {
      ahead += maxRequestMs
      yield* putForward(maxRequestMs)
    }
    if (stagesMet === undefined) killed++
    else met = stagesMet
  }

  if (kills >= enough) assert.sameMembers([...mishaps.keys()], [...allMishaps])

  // what is still open is decided within a day: pages expire, and what never reached the processor is given up
  yield* putForward(25 * 3_600_000)
  return yield* inShop(
    (shop) =>
      // before the first look, which asks the processor what became of open payments
      Effect.andThen(
        worksWell(shop.stand),
        shop.visit((billing) =>
          Effect.gen(function* () {
            // no recharge begins while the books are compared
            yield* billing.saveRecharge(account.account_id, { is_on: false, cents: 50_00, trigger_credits: 20_000 })
            yield* until(Effect.map(rowsOf(shop), (rows) => rows.every(({ state }) => state !== "open")))
            for (const { id, state } of yield* rowsOf(shop)) {
              if (state !== "succeeded") continue
              const { body, header } = yield* shop.stand.event(id)
              yield* billing.webhook(body, header)
            }
            assert.isFalse((yield* billing.settings(account.account_id)).recharge.is_recharging)
            yield* shop.checkBooks
            yield* shop.checkCards
            const succeeded = (yield* rowsOf(shop)).filter(({ state }) => state === "succeeded")
            assert.strictEqual(succeeded.length, yield* shop.stand.paid)
            const bookings = (yield* shop.bookings).length
            return { killed, paid: succeeded.length, bookings, mishaps: Object.fromEntries(mishaps) }
          })
        )
      ),
    account
  )
})

/** Each pair of a processor and a kind of store is hit so often. */
export const hitByKills = (pairs: ReadonlyArray<Pair>, kills: number): void => {
  describe("processes that work with money and are killed with -9", () => {
    for (const [processor, store] of pairs) {
      it.live(
        `book each payment, refund and dispute once: ${processor}, ${store}`,
        () =>
          Effect.gen(function* () {
            const seed = newSeed()
            const counts = yield* history(processor, store, kills, seed).pipe(
              Effect.tapCause(() => Effect.sync(() => console.error(`LARDER_CRASH_SEED=${seed}`)))
            )
            console.log(`${processor}, ${store}, LARDER_CRASH_SEED=${seed}: ${JSON.stringify(counts)}`)
          }).pipe(Effect.scoped, Effect.orDie),
        90_000 + kills * 20_000
      )
    }
  })
}
