/**
 * Random histories of a ledger: holds with every outcome, bursts, edits, revocations, bookings, months, outages,
 * restarts and crashes. After every step the ledger must agree with a small reference model (`model.ts`, `invariants.ts`).
 *
 * A failure prints the seed and the shortest history that fast-check has found. `LARDER_TEST_SEED` repeats the same
 * histories.
 */
import assert from "node:assert/strict"
import { inspect } from "node:util"
import fc from "fast-check"
import { expect, it } from "vitest"
import { bookingSteps } from "./booking-steps.ts"
import { burstSteps } from "./burst-steps.ts"
import { callSteps } from "./call-steps.ts"
import { fateSteps } from "./fate-steps.ts"
import { checkEverything } from "./invariants.ts"
import { limitSteps } from "./limit-steps.ts"
import { Model } from "./model.ts"
import { createKey, openAccount, operatorSteps } from "./operator-steps.ts"
import type { History, Step } from "./steps.ts"
import type { LedgerKind, Traits } from "./subject.ts"
import { World } from "./world.ts"

const readNumber = (variable: string): number | undefined => {
  const text = process.env[variable]
  if (text === undefined || text === "") return undefined
  assert.match(text, /^-?\d{1,10}$/, `${variable} must be an integer`)
  return Number(text)
}

const anyStep = fc.oneof(...operatorSteps, ...bookingSteps, ...callSteps, ...limitSteps, ...burstSteps, ...fateSteps)

/** Creates an account with a key, so that calls can begin. */
const begin = async (kind: LedgerKind, tally: Map<string, number>) => {
  const subject = await kind.open()
  const model = new Model(kind.traits)
  const world = new World(model, subject, tally)
  const real: History = { world, previous: new Map() }
  try {
    await openAccount(world, 0)
    await createKey(world, 0, { account: 0, scopes: ["get-store"], budget: 2_000 })
    await checkEverything(world, real.previous)
  } catch (error) {
    await subject.close()
    throw error
  }
  return { model, real }
}

const runHistory = async (kind: LedgerKind, steps: Iterable<Step>, tally: Map<string, number>) => {
  const { model, real } = await begin(kind, tally)
  try {
    await fc.asyncModelRun(() => ({ model, real }), steps)
    await end(real)
  } finally {
    await real.world.subject.close()
  }
}

/** The report of fast-check omits causes. */
const withCauses = (error: unknown) => {
  throw error instanceof assert.AssertionError ? error : new Error(inspect(error))
}

const end = async ({ previous, world }: History) => {
  if (world.model.isDown) {
    await world.endOutage()
    await checkEverything(world, previous)
  }
  for (const hold of world.model.holds) world.release(hold)
  await checkEverything(world, previous)
}

/** Milliseconds. A history that takes longer waits forever. */
const maxHistoryTime = 120_000
/** For finding a shorter history that fails as well. */
const maxShorteningTime = 60_000

/** `steps` is the maximum length of a history; steps that are not possible are skipped. */
export const histories = (
  kind: LedgerKind,
  { runs, steps }: { readonly runs: number; readonly steps: number }
): void => {
  const timeout = 600_000 + runs * maxHistoryTime

  it(
    `loses nothing, charges nothing twice and overspends nothing: ${kind.name}`,
    async () => {
      const seed = readNumber("LARDER_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31)
      console.info(`${runs} histories over ${kind.name}; repeat them with LARDER_TEST_SEED=${seed}`)
      const tally = new Map<string, number>()
      const history = fc.commands([anyStep], { maxCommands: steps, size: "max" })
      const property = fc.asyncProperty(history, (steps) => runHistory(kind, steps, tally).catch(withCauses))
      const plugins = [fc.timeout(maxHistoryTime)]
      const ran = await fc.check(property, { seed, numRuns: runs, endOnFailure: true, plugins })
      if (ran.failed) {
        const path = ran.counterexamplePath ?? ""
        plugins.push(fc.interruptAfterTimeLimit(maxShorteningTime))
        const shorter = await fc.check(property, { seed, path, numRuns: 1, plugins })
        const found = shorter.counterexample === null ? ran : shorter
        throw new Error(await fc.asyncDefaultReportMessage(found), { cause: found.errorInstance })
      }
      console.info(
        [...tally]
          .toSorted()
          .map(([event, times]) => `${event} ${times}`)
          .join(", ")
      )
      if (runs >= enoughRuns) expect(listExpected(kind.traits).filter((event) => !tally.has(event))).toEqual([])
    },
    timeout
  )
}

/** This many histories contain each of these events at least ten times; with fewer, they would prove less than they seem to. */
export const enoughRuns = 70
const listExpected = ({ decidesAgain }: Traits) => [
  ...expectedEvents,
  ...(decidesAgain ? lateRefusals : ["charged below 0"])
]
const lateRefusals = ["unknown_key", "account_suspended", "missing_scope", "insufficient_balance"].map(
  (refusal) => `refused after the read: ${refusal}`
)
const expectedEvents = [
  "held",
  "insufficient_balance",
  "monthly_spend_cap_reached",
  "key_changed",
  "charged",
  "charged to another month",
  "charge refused",
  "change refused in an outage",
  "released",
  "ended twice concurrently",
  "commit after the end",
  "release after the end",
  "used request id refused",
  "one request id twice concurrently",
  "many ended concurrently",
  "balance nearly used up",
  "budget used up",
  "burst on two keys",
  "burst with nothing",
  "burst with budget",
  "burst with credits",
  "burst with deduction",
  "burst with scopes",
  "burst with revocation",
  "budget edited",
  "scopes edited",
  "revoked",
  "account suspended",
  "account resumed",
  "statement",
  "page",
  "booked",
  "booked concurrently",
  "booked again",
  "reference taken",
  "below 0",
  "clock set back",
  "outage",
  "restart",
  "charged while stopping",
  "crash: idle",
  "crash: before",
  "crash: torn",
  "crash: after",
  "charged in a crash",
  "not charged in a crash",
  "booked in a crash",
  "booked after a crash"
]
