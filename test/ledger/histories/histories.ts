/**
 * Random histories of a ledger: holds with every outcome, bursts, edits, revocations, bookings, months, outages,
 * restarts and crashes. After every step the ledger must agree with a small reference model (`model.ts`, `invariants.ts`).
 *
 * A failure prints the seed and the shortest history that fast-check has found. `LARDER_TEST_SEED` repeats the same
 * histories.
 */
import assert from "node:assert/strict"
import { inspect } from "node:util"
import { scopes } from "@larder/schemas"
import fc from "fast-check"
import { expect, it } from "vitest"
import { bookingSteps } from "./booking-steps.ts"
import { type BurstSize, burstSteps } from "./burst-steps.ts"
import { callSteps } from "./call-steps.ts"
import { fateSteps } from "./fate-steps.ts"
import { checkEverything } from "./invariants.ts"
import { limitSteps } from "./limit-steps.ts"
import { Model } from "./model.ts"
import { createKey, openAccount, operatorSteps } from "./operator-steps.ts"
import { readingSteps } from "./reading-steps.ts"
import type { History, Step } from "./steps.ts"
import type { LedgerKind, Traits } from "./subject.ts"
import { World } from "./world.ts"

const readNumber = (variable: string): number | undefined => {
  const text = process.env[variable]
  if (text === undefined || text === "") return undefined
  assert.match(text, /^-?\d{1,10}$/, `${variable} must be an integer`)
  return Number(text)
}

const anyStep = (size: BurstSize) =>
  fc.oneof(
    ...operatorSteps,
    ...readingSteps,
    ...bookingSteps,
    ...callSteps,
    ...limitSteps,
    ...burstSteps(size),
    ...fateSteps
  )

/** Creates an account with a key, so that calls can begin. */
const begin = async (kind: LedgerKind, tally: Map<string, number>) => {
  const subject = await kind.open()
  const model = new Model(kind.traits)
  const world = new World(model, subject, tally)
  const real: History = { world, previous: new Map() }
  try {
    await openAccount(world, 0)
    await createKey(world, 0, { account: 0, scopes, budget: 2_000, expiry: null })
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

export interface HistoryOptions {
  /** The number of histories. */
  readonly runs: number
  /** The maximum length of a history; steps that are not possible are skipped. */
  readonly steps: number
  /** How many calls are in flight together. */
  readonly bursts?: BurstSize
  /** More histories are run until this many calls, changes and reads have overlapped. */
  readonly overlaps?: number
}

/** Runs histories, and fails with the shortest one that it finds. */
const check = async (kind: LedgerKind, tally: Map<string, number>, seed: number, options: HistoryOptions) => {
  const { bursts = "few", runs: numRuns, steps } = options
  const history = fc.commands([anyStep(bursts)], { maxCommands: steps, size: "max" })
  const property = fc.asyncProperty(history, (steps) => runHistory(kind, steps, tally).catch(withCauses))
  const plugins = [fc.timeout(maxHistoryTime)]
  const ran = await fc.check(property, { seed, numRuns, endOnFailure: true, plugins })
  if (!ran.failed) return
  const path = ran.counterexamplePath ?? ""
  plugins.push(fc.interruptAfterTimeLimit(maxShorteningTime))
  const shorter = await fc.check(property, { seed, path, numRuns: 1, plugins })
  const found = shorter.counterexample === null ? ran : shorter
  throw new Error(await fc.asyncDefaultReportMessage(found), { cause: found.errorInstance })
}

export const histories = (kind: LedgerKind, options: HistoryOptions): void => {
  const { overlaps = 0, runs } = options

  it(
    `loses nothing, charges nothing twice and overspends nothing: ${kind.name}`,
    async () => {
      const first = readNumber("LARDER_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31)
      const tally = new Map<string, number>()
      for (let seed = first; seed === first || (tally.get("overlapping steps") ?? 0) < overlaps; seed++) {
        console.info(`${runs} histories over ${kind.name}; repeat them with LARDER_TEST_SEED=${seed}`)
        await check(kind, tally, seed, options)
      }
      const events = [...tally].toSorted().map(([event, times]) => `${event} ${times}`)
      console.info(`${kind.name}: ${events.join(", ")}`)
      if (runs >= enoughRuns) expect(listExpected(kind.traits).filter((event) => !tally.has(event))).toEqual([])
    },
    overlaps > 0 ? 3 * 3_600_000 : 600_000 + runs * maxHistoryTime
  )
}

/** This many histories contain each of these events at least ten times; with fewer, they would prove less than they seem to. */
export const enoughRuns = 120
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
  "capture after the end",
  "release after the end",
  "used request id refused",
  "one request id twice concurrently",
  "many ended concurrently",
  "balance nearly used up",
  "budget used up",
  "burst of hundreds",
  "burst without changes",
  "burst with budget",
  "burst with scopes",
  "burst with expiry",
  "burst with rotation",
  "burst with revocation",
  "burst with suspension",
  "burst with credits",
  "burst with money received",
  "burst with money returned",
  "burst with repeated booking",
  "burst with new key",
  "remaining read",
  "key changed before the hold",
  "unknown_key",
  "account_suspended",
  "missing_scope",
  "budget edited",
  "scopes edited",
  "expiry edited",
  "rotated",
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
