/** Events that affect all accounts: time, outages of the store, and servers that are stopped or killed. */
import assert from "node:assert/strict"
import fc from "fast-check"
import { newBooking, recordInModel } from "./booking-steps.ts"
import type { CaptureOutcome, HoldModel } from "./model.ts"
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
    run: async (world, move) => {
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
  isPossible: ({ isDown }) => !isDown,
  run: async (world) => {
    await world.subject.beginOutage()
    world.model.isDown = true
    world.note("outage")
  }
})

const endOutage = step("outage ends", fc.constant({}), {
  isPossible: ({ isDown }) => isDown,
  run: async (world) => {
    await world.endOutage()
  }
})

const holdsOf = (world: World, server: number, count: number) =>
  world.model.holds.filter((hold) => hold.server === server).slice(0, count)

const restart = step("restart", fc.record({ server: choice, captures: fc.nat(5) }), {
  isPossible: ({ isDown }) => !isDown,
  run: async (world, { captures, server: anyServer }) => {
    const server = world.serverAt(anyServer)
    const running: Array<Promise<readonly [HoldModel, string, CaptureOutcome | "rejected"]>> = []
    await world.subject.restart(server, () => {
      for (const hold of holdsOf(world, server, captures)) {
        const id = world.newRequestId()
        running.push(world.tryCapture(hold, id).then((outcome) => [hold, id, outcome]))
      }
    })
    for (const [hold, id, outcome] of await Promise.all(running)) {
      assert.notEqual(outcome, "rejected", `the server did not wait for the capture of ${id}`)
      world.settle(hold, outcome, id)
      world.note("charged while stopping")
    }
    world.replaceServer(server)
    world.note("restart")
  }
})

/** A change that a death may interrupt; its outcome may stay unknown. */
interface PendingChange {
  readonly begin: () => Promise<unknown>
  /** Whether it is in the ledger after the death. */
  readonly isWritten: () => Promise<boolean>
  readonly recordInModel: () => void
}

const pendingCapture = (world: World, hold: HoldModel): PendingChange => {
  const id = world.newRequestId()
  return {
    begin: async () => {
      const outcome = await world.handleOf(hold).capture(id)
      if (outcome !== "charged") throw new Error(outcome)
    },
    isWritten: async () => {
      const entries = await world.subject.entriesOf(hold.key.account.id)
      const charge = entries.find(({ request_id }) => request_id === id)
      const isWritten = charge !== undefined
      world.note(isWritten ? "charged in a crash" : "not charged in a crash")
      return isWritten
    },
    recordInModel: () => world.model.charge(hold, id)
  }
}

const pendingCredit = (
  world: World,
  server: number,
  { account, credits }: { readonly account: number; readonly credits: number }
): PendingChange => {
  const credited = pick(world.model.accounts, account)
  const note = `${world.newRequestId()}, interrupted`
  const input = { account_id: credited.id, credits, note }
  const { administration } = world.server(server)
  return {
    begin: () => world.run(administration.creditAccount(input)),
    isWritten: async () => (await world.subject.entriesOf(credited.id)).some((entry) => entry.note === note),
    recordInModel: () => world.model.book(credited, "adjustment", credits, note)
  }
}

const pendingEdits = (
  world: World,
  server: number,
  { budget, key }: { readonly key: number; readonly budget: number }
): ReadonlyArray<PendingChange> => {
  const { model } = world
  if (model.validKeys().length === 0) return []
  const edited = pick(model.validKeys(), key)
  const { administration } = world.server(server)
  return [
    {
      begin: () => world.run(administration.editKey({ key_id: edited.id, budget_credits: budget })),
      isWritten: async () => (await world.lookUp(server, edited))?.revision !== edited.revision,
      recordInModel: () => {
        edited.budget = budget
        edited.revision++
      }
    }
  ]
}

const pendingBooking = (
  world: World,
  server: number,
  { account, credits }: { readonly account: number; readonly credits: number }
) => {
  const owner = pick(world.model.accounts, account)
  const booking = newBooking(world, owner, { type: credits > 0 ? "top_up" : "refund", credits })
  const record = () => recordInModel(world, owner, booking)
  let wasWritten = false
  const pending: PendingChange = {
    begin: () => world.run(world.server(server).administration.book(booking)),
    isWritten: async () =>
      (await world.subject.entriesOf(owner.id)).some(({ request_id }) => request_id === booking.reference),
    recordInModel: () => {
      wasWritten = true
      record()
    }
  }
  return {
    pending,
    /** A caller without a response repeats the booking; it has no effect if it was booked before. */
    repeat: async () => {
      const { booked } = await world.run(world.server(server).administration.book(booking))
      assert.equal(booked, !wasWritten, "booked twice, or not at all")
      if (booked) record()
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
    captures: fc.nat(5),
    credit: fc.option(fc.record({ account: choice, credits: fc.integer({ min: 1, max: 500 }) })),
    booking: fc.option(fc.record({ account: choice, credits: fc.constantFrom(-400, 500, 900) })),
    edit: fc.option(fc.record({ key: choice, budget }))
  }),
  {
    isPossible: ({ isDown }) => !isDown,
    run: async (world, { booking, captures, credit, death, edit, server: anyServer }) => {
      const server = world.serverAt(anyServer)
      const booked = booking === null ? undefined : pendingBooking(world, server, booking)
      const pending = [
        ...holdsOf(world, server, captures).map((hold) => pendingCapture(world, hold)),
        ...(booked === undefined ? [] : [booked.pending]),
        ...(credit === null ? [] : [pendingCredit(world, server, credit)]),
        ...(edit === null ? [] : pendingEdits(world, server, edit))
      ]
      const confirmed = new Set<PendingChange>()
      await world.subject.crash(server, death, async () => {
        await Promise.allSettled(pending.map((change) => change.begin().then(() => confirmed.add(change))))
      })
      for (const change of pending) if (confirmed.has(change) || (await change.isWritten())) change.recordInModel()
      world.replaceServer(server)
      await booked?.repeat()
      world.note(`crash: ${pending.length === 0 ? "idle" : death.moment}`)
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
