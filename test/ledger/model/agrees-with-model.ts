/**
 * A ledger and its model make the same random steps: calls with every outcome, credits and money in both
 * directions, edits, expiries and revocations of keys, new keys and accounts, days and months that pass, and servers that are
 * closed and opened again. Hundreds of steps run concurrently; their outcomes must be possible in some order
 * (`overlaps.ts`), and in between the ledger must agree exactly with the model (`compare.ts`). Rules are in `rules.ts`.
 *
 * The seed decides the steps; the machine decides their order, such as which of two calls comes first.
 */
import assert from "node:assert/strict"
import { afterEach, expect, it, vi } from "vitest"
import { chanceFrom } from "../../crash/chance.ts"
import { seed } from "../../support/seed.ts"
import { end, type Fate, makeCall, type PlannedCall, readRemaining, release, wait } from "./calls.ts"
import { compare, compareAll, compareMore, settle } from "./compare.ts"
import { type LedgerUnderTest, openAll } from "./ledgers.ts"
import { Model } from "./model.ts"
import { createKey, drawOperation, openAccount, pickOne } from "./operators.ts"
import { prices, stores } from "./rules.ts"
import { type UsedKey, World } from "./world.ts"

const hour = 3_600_000
/** How many calls are in flight together, with the changes by operators. */
const batchSize = { min: 50, max: 950 }
/** Turns of the event loop: calls and changes begin in the first turns of a batch. */
const maxWait = 30

const fates: ReadonlyArray<readonly [number, Fate]> = [
  [660, "commit"],
  [720, "commit and release"],
  [900, "release"],
  [998, "stay open"],
  [1_000, "commit with a used id"]
]

/** With these, the rest of a limit only shrinks, so less was left for a refused call than for any earlier one. */
const fatesWithoutRelease: ReadonlyArray<readonly [number, Fate]> = [
  [900, "commit"],
  [1_000, "stay open"]
]

/** The keys that are called in a batch, and the valid ones among them. */
interface Called {
  readonly keys: ReadonlyArray<UsedKey>
  readonly known: ReadonlyArray<UsedKey>
}

const drawFate = ({ chance }: World, weightedFates: typeof fates): Fate => {
  const number = chance.between(1, 1_000)
  return weightedFates.find(([max]) => number <= max)?.[1] ?? "commit"
}

const drawCall = (world: World, { keys, known }: Called, weightedFates = fates): PlannedCall => {
  const { chance } = world
  const key = pickOne(world, known.length > 0 && chance.between(0, 19) > 0 ? known : keys)
  return {
    server: chance.between(0, 1),
    key,
    secret: pickOne(world, key.terms.secrets).secret,
    call: chance.between(0, 9) < 7 ? prices : stores,
    fate: drawFate(world, weightedFates),
    startTurns: chance.between(0, maxWait),
    lookupTurns: chance.between(0, 1),
    holdTurns: chance.between(0, 4)
  }
}

const batch = async (world: World) => {
  const { chance } = world
  const before = world.open
  world.open = []
  const isShrinking = chance.between(0, 2) === 0
  const drawn = isShrinking ? fatesWithoutRelease : fates
  const keys = world.calledKeys()
  const called = { keys, known: keys.filter((key) => world.isKnown(key)) }
  const changed = new Set<UsedKey>()
  const planned = Array.from({ length: chance.between(batchSize.min, batchSize.max) }, () =>
    drawCall(world, called, drawn)
  )
  const operations = Array.from({ length: isShrinking ? 0 : chance.between(1, 8) }, () => ({
    operate: drawOperation(world, changed),
    turns: chance.between(0, maxWait)
  }))
  const ends = before.map((hold) => ({
    hold,
    turns: chance.between(0, maxWait),
    fate: drawFate(world, drawn)
  }))
  const reads = Array.from({ length: chance.between(0, 10) }, () => drawCall(world, called))
  await Promise.all([
    ...planned.map((call) => makeCall(world, call)),
    ...reads.map((call) => readRemaining(world, call)),
    ...ends.map(async ({ fate, hold, turns }) => {
      await wait(turns)
      await end(world, hold, fate)
    }),
    ...operations.map(async ({ operate, turns }) => {
      await wait(turns)
      await operate()
    })
  ])
  world.charged = world.charged.slice(-200)
}

const reopen = async (world: World) => {
  const { chance, ledgers, model } = world
  const server = chance.between(0, ledgers.servers().length - 1)
  for (const hold of world.open.filter((hold) => hold.server % ledgers.servers().length === server)) {
    model.release(hold)
    world.open.splice(world.open.indexOf(hold), 1)
  }
  await ledgers.reopen(server)
  if (!ledgers.remembersRequestIds) world.charged = []
  world.note("reopened")
}

const passTime = async (world: World, ms: number) => {
  const { model, overlaps } = world
  await settle(world)
  assert.deepEqual(overlaps.findProblems(), [])
  model.now += ms
  vi.setSystemTime(model.now)
  world.note("time passed")
}

/** When nothing is in flight: time passes, and servers are closed and opened again. */
const changeBetweenBatches = async (world: World) => {
  const { chance } = world
  if (chance.between(0, 3) === 0) await passTime(world, chance.between(1, 96) * hour + chance.between(0, hour - 1))
  if (chance.between(0, 149) === 0) await openAccount(world, chance.between(0, 1))
  for (const account of world.calledAccounts()) {
    const known = world.keysOf(account).filter((key) => world.isKnown(key)).length
    for (let count = known; count < 2; count++) await createKey(world, chance.between(0, 1), account)
  }
  if (chance.between(0, 24) === 0) await reopen(world)
}

const runSteps = async (world: World, steps: number) => {
  for (let account = 0; account < 4; account++) await openAccount(world, account)
  while (world.steps < steps) {
    await changeBetweenBatches(world)
    await batch(world)
    await compare(world)
    if (world.chance.between(0, 9) === 0) await compareMore(world)
  }
  for (const hold of world.open) release(world, hold)
  world.open = []
  await compareAll(world)
}

/** A run of enough steps contains all of these events; otherwise it would prove less than it seems to. */
const expectedEvents = [
  ["held", "charged", "released", "insufficient_balance", "monthly_spend_cap_reached", "unknown", "forbidden"],
  ["request id refused", "charged later than admitted", "key changed before the hold", "remaining read"],
  ["budget edited", "scopes edited", "expiry edited", "rotated", "revoked", "key created", "account opened"],
  ["credited", "money received", "money returned", "booked again", "time passed", "reopened"]
].flat()

const enoughSteps = 100_000

export const agreesWithModel = (name: string, makeLedger: () => Promise<LedgerUnderTest>, steps: number): void => {
  afterEach(() => void vi.useRealTimers())

  it(`agrees with a plain model, in some order of overlapping calls, for ${steps} random steps: ${name}`, async () => {
    console.info(`${name}, LARDER_TEST_SEED=${seed}`)
    const ledgerUnderTest = await makeLedger()
    const model = new Model()
    vi.useFakeTimers({ toFake: ["Date"], now: model.now }) // servers use it, too
    const ledgers = await openAll(ledgerUnderTest)
    const world = new World(ledgers, model, chanceFrom(seed))
    const startedAt = performance.now()
    try {
      await runSteps(world, steps)
    } catch (error) {
      throw new Error(`after ${world.steps} steps with LARDER_TEST_SEED=${seed}`, { cause: error })
    } finally {
      await ledgers.close()
      const seconds = (performance.now() - startedAt) / 1_000
      const numbers = [...world.tally].toSorted().map(([event, times]) => `${event} ${times}`)
      console.info(
        `${name}: ${world.steps} steps in ${Math.round(seconds)} s, ${Math.round(world.steps / seconds)}/s; ${numbers.join(", ")}`
      )
    }
    if (steps >= enoughSteps) expect(expectedEvents.filter((event) => !world.tally.has(event))).toEqual([])
    assert.ok(world.steps >= steps)
  }, 3_600_000)
}
