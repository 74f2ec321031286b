import { expect, it } from "vitest"
import { type CallGroup, type Charge, callsOf, makeGroupQueue } from "./group.ts"

const makeCharge = (account_id: string, isInDoubt = false): Charge => {
  const call = { key: { account_id, id: `key of ${account_id}` }, month: 24_310 }
  return {
    hold: { call, stage: "charging" } as unknown as Charge["hold"], // the queue reads only these
    requestId: "req",
    signal: undefined,
    since: 0,
    isInDoubt,
    ...Promise.withResolvers()
  }
}

const accountsIn = (group: CallGroup | undefined) =>
  Object.fromEntries(
    [...Map.groupBy(group === undefined ? [] : callsOf(group), ({ key }) => key.account_id)].map(([id, calls]) => [
      id,
      calls.length
    ])
  )

const makeQueue = (suspects: ReadonlyArray<string> = []) => {
  const clock = { now: 0 }
  const queue = makeGroupQueue(
    (id) => suspects.includes(id),
    () => clock.now
  )
  const add = (id: string, count: number, isInDoubt = false) => {
    for (let call = 0; call < count; call++) queue.addCharge({ ...makeCharge(id, isInDoubt), since: clock.now })
  }
  return { queue, clock, add }
}

it("sends an account with few calls next, however many calls others always have", () => {
  const { add, queue } = makeQueue()
  add("busy", 1_300)
  add("also busy", 1_300)
  add("quiet", 1)
  const first = queue.take()
  const second = queue.take()
  expect([accountsIn(first), accountsIn(second)]).toEqual([{ busy: 500 }, { "also busy": 500 }])
  queue.release(["busy"])
  add("busy", 500)
  expect(accountsIn(queue.take())).toEqual({ quiet: 1, busy: 499 })
})

it("adds no charge in doubt to a group whose charges in doubt were looked up already", () => {
  const { add, queue } = makeQueue()
  add("a", 501, true)
  const group = queue.take()
  group?.charges.splice(0, 400) // the database has charged them
  if (group !== undefined) queue.addArrived(group, ["a"], () => true)
  expect(accountsIn(group)).toEqual({ a: 100 })
  queue.release(["a"])
  expect(accountsIn(queue.take())).toEqual({ a: 1 })
})

it("sends a suspect alone after the others, and after half a second before them", () => {
  const { add, clock, queue } = makeQueue(["suspect"])
  add("suspect", 2)
  add("other", 1)
  expect(accountsIn(queue.take())).toEqual({ other: 1 })
  clock.now = 501
  add("third", 1)
  expect(accountsIn(queue.take())).toEqual({ suspect: 2 })
  expect(accountsIn(queue.take())).toEqual({ third: 1 })
})

it("sends a suspect at once if nothing else waits", () => {
  const { add, queue } = makeQueue(["suspect"])
  add("suspect", 1)
  expect(accountsIn(queue.take())).toEqual({ suspect: 1 })
  expect(queue.take()).toBeUndefined()
})
