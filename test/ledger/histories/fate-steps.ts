/** What happens to all at once: time, outages of the store, servers that are stopped or die. */
import assert from "node:assert/strict"
import fc from "fast-check"
import { newBooking, tellReference } from "./booking-steps.ts"
import type { HoldModel } from "./model.ts"
import { budget, choice } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"
import { moments } from "./subject.ts"
import type { World } from "./world.ts"

const day = 86_400_000
const firstOfMonth = (now: number, months: number) => {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months)
}

const time = step(
  "time",
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ by: fc.integer({ min: 0, max: 5_000 }) }) },
    { weight: 2, arbitrary: fc.record({ by: fc.integer({ min: 1, max: 40 * day }) }) },
    { weight: 2, arbitrary: fc.record({ by: fc.integer({ min: -5_000, max: -1 }) }) },
    { weight: 2, arbitrary: fc.record({ by: fc.integer({ min: -40 * day, max: -1 }) }) },
    { weight: 6, arbitrary: fc.record({ to: fc.constantFrom("last of month", "first of next", "last of previous") }) }
  ),
  {
    happens: async (world, move) => {
      const { model } = world
      const before = model.now
      if ("by" in move) model.now += move.by
      else if (move.to === "first of next") model.now = firstOfMonth(before, 1)
      else model.now = firstOfMonth(before, move.to === "last of month" ? 1 : 0) - 1
      if (model.now < before) world.note("clock set back")
    }
  }
)

const beginOutage = step("outage begins", fc.constant({}), {
  can: ({ isOut }) => !isOut,
  happens: async (world) => {
    await world.subject.beginOutage()
    world.model.isOut = true
    world.note("outage")
  }
})

const endOutage = step("outage ends", fc.constant({}), {
  can: ({ isOut }) => isOut,
  happens: async (world) => {
    await world.endOutage()
  }
})

const holdsOf = (world: World, server: number, count: number) =>
  world.model.holds.filter((hold) => hold.server === server).slice(0, count)

const restart = step("restart", fc.record({ server: choice, commits: fc.nat(5) }), {
  can: ({ isOut }) => !isOut,
  happens: async (world, { commits, server: anyServer }) => {
    const server = world.serverAt(anyServer)
    const running: Array<Promise<readonly [HoldModel, string, boolean]>> = []
    await world.subject.restart(server, () => {
      for (const hold of holdsOf(world, server, commits)) {
        const id = world.newRequestId()
        running.push(world.commits(hold, id).then((resolved) => [hold, id, resolved]))
      }
    })
    for (const [hold, id, resolved] of await Promise.all(running)) {
      assert.ok(resolved, `the server did not wait for the commit of ${id}`)
      world.settle(hold, id)
      world.note("charged while stopping")
    }
    world.replaced(server)
    world.note("restart")
  }
})

/** A change that a death may interrupt. Nobody may hear how it ended. */
interface UnderWay {
  readonly begin: () => Promise<unknown>
  /** Whether it is in the ledger, looked at after the death. */
  readonly isThere: () => Promise<boolean>
  readonly tellReference: () => void
}

const commitUnderWay = (world: World, hold: HoldModel): UnderWay => {
  const id = world.newRequestId()
  return {
    begin: () => world.handleOf(hold).commit(id),
    isThere: async () => {
      const entries = await world.subject.entriesOf(hold.key.account.id)
      const isThere = entries.some(({ request_id }) => request_id === id)
      world.note(isThere ? "charged in a crash" : "not charged in a crash")
      return isThere
    },
    tellReference: () => world.model.charge(hold, id)
  }
}

const creditUnderWay = (
  world: World,
  server: number,
  { account, credits }: { readonly account: number; readonly credits: number }
): UnderWay => {
  const credited = pick(world.model.accounts, account)
  const note = `${world.newRequestId()}, interrupted`
  const input = { account_id: credited.id, credits, note }
  const { administration } = world.server(server)
  return {
    begin: () => world.run(administration.creditAccount(input)),
    isThere: async () => (await world.subject.entriesOf(credited.id)).some((entry) => entry.note === note),
    tellReference: () => world.model.book(credited, "adjustment", credits, note)
  }
}

const editUnderWay = (
  world: World,
  server: number,
  { budget, key }: { readonly key: number; readonly budget: number }
): ReadonlyArray<UnderWay> => {
  const { model } = world
  if (model.validKeys().length === 0) return []
  const edited = pick(model.validKeys(), key)
  const { administration } = world.server(server)
  return [
    {
      begin: () => world.run(administration.editKey({ key_id: edited.id, budget_credits: budget })),
      isThere: async () => (await world.lookUp(server, edited))?.revision !== edited.revision,
      tellReference: () => {
        edited.budget = budget
        edited.revision++
      }
    }
  ]
}

const bookingUnderWay = (
  world: World,
  server: number,
  { account, credits }: { readonly account: number; readonly credits: number }
) => {
  const owner = pick(world.model.accounts, account)
  const booking = newBooking(world, owner, { type: credits > 0 ? "top_up" : "refund", credits })
  const tell = () => tellReference(world, owner, booking)
  let wasThere = false
  const underWay: UnderWay = {
    begin: () => world.run(world.server(server).administration.book(booking)),
    isThere: async () =>
      (await world.subject.entriesOf(owner.id)).some(({ request_id }) => request_id === booking.reference),
    tellReference: () => {
      wasThere = true
      tell()
    }
  }
  return {
    underWay,
    /** Whoever heard no answer tells of it again, and nothing comes of that where it was booked before. */
    again: async () => {
      const { booked } = await world.run(world.server(server).administration.book(booking))
      assert.equal(booked, !wasThere, "booked twice, or not at all")
      if (booked) tell()
      world.note(booked ? "booked after a crash" : "booked in a crash")
    }
  }
}

const crash = step(
  "crash",
  fc.record({
    server: choice,
    death: fc.record({
      moment: fc.constantFrom(...moments, "torn" as const, "after" as const),
      tear: fc.nat(100).map((percent) => percent / 100),
      tornAt: fc.constantFrom("end" as const, "beginning" as const)
    }),
    commits: fc.nat(5),
    credit: fc.option(fc.record({ account: choice, credits: fc.integer({ min: 1, max: 500 }) })),
    booking: fc.option(fc.record({ account: choice, credits: fc.constantFrom(-400, 500, 900) })),
    edit: fc.option(fc.record({ key: choice, budget }))
  }),
  {
    can: ({ isOut }) => !isOut,
    happens: async (world, { booking, commits, credit, death, edit, server: anyServer }) => {
      const server = world.serverAt(anyServer)
      const booked = booking === null ? undefined : bookingUnderWay(world, server, booking)
      const underWay = [
        ...holdsOf(world, server, commits).map((hold) => commitUnderWay(world, hold)),
        ...(booked === undefined ? [] : [booked.underWay]),
        ...(credit === null ? [] : [creditUnderWay(world, server, credit)]),
        ...(edit === null ? [] : editUnderWay(world, server, edit))
      ]
      const confirmed = new Set<UnderWay>()
      await world.subject.crash(server, death, async () => {
        await Promise.allSettled(underWay.map((change) => change.begin().then(() => confirmed.add(change))))
      })
      for (const change of underWay) if (confirmed.has(change) || (await change.isThere())) change.tellReference()
      world.replaced(server)
      await booked?.again()
      world.note(`crash: ${underWay.length === 0 ? "idle" : death.moment}`)
    }
  }
)

export const fateSteps = [
  { weight: 10, arbitrary: time },
  { weight: 1, arbitrary: beginOutage },
  { weight: 3, arbitrary: endOutage },
  { weight: 1, arbitrary: restart },
  { weight: 2, arbitrary: crash }
]
