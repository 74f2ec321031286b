/**
 * Kills processes that run `Billing`, with SIGKILL, before and after each durable step, here or at the card processor. At
 * the same time customers pay, payments are reversed, the processor is down or slow or loses responses, and events are
 * repeated, late, out of order or forged. At the end the money received equals the credits granted, exactly.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { pauseMs } from "@larder/serve/billing/recharges/limits.ts"
import { maxRequestMs } from "@larder/serve/billing/retry-or-expire.ts"
import { Clock, Effect, References, type Scope } from "effect"
import { chanceFrom } from "../crash/chance.ts"
import { type Count, killing, runSeeded } from "../crash/killing.ts"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { allFaults, endFaults, type Fault, faultDurations, listFaults, listPayments, makeFaults } from "./faults.ts"
import { type Stage, stages } from "./kill-stages.ts"
import type { Work } from "./payment-worker.ts"
import {
  type Account,
  adjustableClock,
  locations,
  openSetup,
  type StoreKind,
  type StripeSetup,
  storeKinds,
  until
} from "./setup.ts"
import { storesIn } from "./stores.ts"
import { stripeHarnessWithHost } from "./stripe-harness.ts"

/** With this many kills, each fault occurs, although some processes are killed before theirs. */
const minKillsForAllFaults = 60
const worker = fileURLToPath(new URL("./payment-worker.ts", import.meta.url))

/** Returns the lines that the worker printed and, if it was not killed, how often it reached each stage. */
const runWorker = (work: Work, onBegun: () => void) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [worker, JSON.stringify(work)], { stdio: ["ignore", "pipe", "inherit"] })
    const chunks: Array<Buffer> = []
    child.stdout.once("data", onBegun)
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    const [code, signal] = await once(child, "close")
    const lines = Buffer.concat(chunks).toString().trim().split("\n")
    if (signal === "SIGKILL") return { lines, reached: undefined }
    assert.strictEqual(code, 0)
    return { lines, reached: JSON.parse(lines.at(-1) ?? "") as StageCounts } // the worker writes it
  })

type StageCounts = Partial<Record<Stage, number>>

const runHistory = Effect.fnUntraced(function* (store: StoreKind, kills: number, seed: number, count: Count) {
  const chance = chanceFrom(seed)
  const { clock, advanceClock } = yield* adjustableClock
  const location = yield* locations[store]
  const { harness, host } = yield* Effect.provideService(stripeHarnessWithHost, Clock.Clock, clock) // it is not killed
  const inSetup = <A, E>(work: (setup: StripeSetup) => Effect.Effect<A, E, Scope.Scope>, account?: Account) =>
    Effect.gen(function* () {
      return yield* work({ ...(yield* openSetup(harness, advanceClock, account)), harness })
    }).pipe(
      Effect.scoped,
      Effect.provide(storesIn(location)),
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(References.MinimumLogLevel, "Fatal")
    )

  const account = yield* inSetup(({ account_id, buy, key, withBilling }) =>
    Effect.as(
      withBilling((billing) => buy(billing, 100_00, "good")),
      { account_id, key }
    )
  )
  const addFaults = makeFaults(chance)
  const faults = new Map<Fault, number>()
  let killed = 0
  let aheadMs = 0
  let counts: StageCounts = {}
  const first = chance.between(0, stages.length - 1)
  for (let number = 0; killed < kills || number === 0; number++) {
    const { events, fault, reversal } = yield* inSetup(addFaults, account)
    // every stage takes its turn: five and fourteen have no common divisor
    const stage = stages[(first + number * 5) % stages.length] ?? "before a booking"
    const killPoint = number === 0 ? null : { stage, time: chance.between(1, Math.max(1, counts[stage] ?? 0)) }
    const faultMs = faultDurations[fault]
    const work = { location, stripe: host.url, killPoint, ...account, run: `run${number}`, aheadMs, events }
    const endFault = () => Effect.runFork(endFaults(harness))
    const { reached, lines } = yield* runWorker(work, () => setTimeout(endFault, faultMs))
    const occurred = listFaults(fault, lines)
    // the first process is not killed: it has the fault of the processor, and forged, repeated or late events
    if (number === 0) assert.isAtLeast(occurred.length, 2)
    for (const kind of [reversal, ...occurred]) faults.set(kind, (faults.get(kind) ?? 0) + 1)
    const advanceMs = lines.includes("clock advanced") ? maxRequestMs : pauseMs // so that each process recharges
    aheadMs += advanceMs
    yield* advanceClock(advanceMs)
    if (reached === undefined) killed++
    else counts = reached
  }
  count("kills", killed)
  for (const [fault, times] of faults) count(fault, times)

  if (kills >= minKillsForAllFaults) assert.sameMembers([...faults.keys()], [...allFaults])

  // open payments are decided within a day: pages expire, and so do payments that never reached the processor
  yield* advanceClock(25 * 3_600_000)
  yield* inSetup(
    (setup) =>
      // before the first round, which retrieves open payments from the processor
      Effect.andThen(
        endFaults(setup.harness),
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            // so that no recharge begins during the comparison
            yield* saveRecharge(
              billing,
              account.account_id,
              rechargeChoice({ is_on: false, cents: 50_00, trigger_credits: 20_000 })
            )
            yield* until(Effect.map(listPayments(setup), (rows) => rows.every(({ state }) => state !== "open")))
            for (const { id, state } of yield* listPayments(setup)) {
              if (state !== "succeeded") continue
              const { body, header } = yield* setup.harness.event(id)
              yield* billing.webhook(body, header)
            }
            assert.isFalse((yield* billing.settings(account.account_id)).recharge.is_recharging)
            yield* setup.checkBooks
            yield* setup.checkCards
            const succeeded = (yield* listPayments(setup)).filter(({ state }) => state === "succeeded")
            assert.strictEqual(succeeded.length, yield* setup.harness.paid)
            count("payments", succeeded.length)
            count("bookings", (yield* setup.bookings).length)
          })
        )
      ),
    account
  )
})

/** One history has all kills, so that it contains every fault. The number of kills is for each kind of store. */
export const testPaymentKills = (options: { readonly kills: number }): void => {
  for (const store of storeKinds) {
    const name = `processes that run Billing and are killed: ${store}`
    const runKills = (kills: number, seed: number, count: Count) =>
      runHistory(store, kills, seed, count).pipe(Effect.scoped, Effect.orDie, Effect.runPromise)
    killing(
      {
        name,
        outcome: "book each payment, refund and dispute once",
        killsPerHistory: options.kills,
        runHistory: ({ kills }) => runSeeded(name, (seed, count) => runKills(kills, seed, count))
      },
      options
    )
  }
}
