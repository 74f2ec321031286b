/**
 * Hundreds of calls at once, on all servers and with all keys, while holds of earlier calls end, and operators change
 * accounts and keys. `overlaps.ts` decides whether the outcomes are possible in some order.
 */
import fc from "fast-check"
import { Burst } from "./burst.ts"
import { end, fateIn, makeCall, maxWait, plannedCall, readRemaining, wait } from "./burst-calls.ts"
import { makeChange, plannedChange } from "./burst-changes.ts"
import { type Step, step } from "./steps.ts"

/** How many calls of a burst are in flight together. */
const sizes = {
  few: fc.oneof(
    { weight: 4, arbitrary: fc.constant([2, 60] as const) },
    { weight: 1, arbitrary: fc.constant([60, 300] as const) }
  ),
  many: fc.constant([50, 950] as const)
}
export type BurstSize = keyof typeof sizes

const details = (size: BurstSize) =>
  fc.tuple(sizes[size], fc.integer({ min: 0, max: 2 })).chain(([[minLength, maxLength], number]) => {
    const isShrinking = number === 0
    const fate = fateIn(isShrinking)
    return fc.record({
      calls: fc.array(plannedCall(fate), { minLength, maxLength, size: "max" }),
      ends: fc.array(fc.record({ fate, turns: fc.nat(maxWait) }), { minLength: 1, maxLength: 30, size: "max" }),
      changes: fc.array(plannedChange, { maxLength: isShrinking ? 0 : 8, size: "max" }),
      reads: fc.array(plannedCall(fate), { maxLength: 5, size: "max" })
    })
  })

/** How many calls are enough to be called many. */
const many = 200

const burst = (size: BurstSize): fc.Arbitrary<Step> =>
  step("burst", details(size), {
    isPossible: (model) => !model.isDown && model.validKeys().length > 0,
    run: async (world, { calls, changes, ends, reads }) => {
      const burst = new Burst(world, changes.length > 0)
      const open = [...world.model.holds]
      await Promise.all([
        ...calls.map((call) => makeCall(burst, call)),
        ...reads.map((read) => readRemaining(burst, read)),
        ...changes.map((change) => makeChange(burst, change)),
        ...open.map(async (hold, index) => {
          const planned = ends[index % ends.length]
          await wait(planned?.turns ?? 0)
          await end(burst, hold, planned?.fate ?? "capture")
        })
      ])
      await burst.end()
      world.note("burst")
      world.note("overlapping steps", calls.length + reads.length + changes.length + open.length)
      if (changes.length === 0) world.note("burst without changes")
      if (calls.length >= many) world.note("burst of hundreds")
    }
  })

export const burstSteps = (size: BurstSize) => [{ weight: size === "few" ? 5 : 20, arbitrary: burst(size) }]
