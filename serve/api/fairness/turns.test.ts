import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Entered, largeBytes, makeTurns, type Turn } from "./turns.ts"

const stays = new AbortController().signal
const mebibyte = 2 ** 20
const caller = (account: string, key = "key") => ({ id: `${account}-${key}`, account_id: account })

const started = async (entered: Entered | Promise<Entered>): Promise<Turn> => {
  const turn = await entered
  if (typeof turn === "string") throw new Error(`The call came too ${turn}`)
  return turn
}

/** Whether the call has entered or was refused by now. */
const settled = (entered: Entered | Promise<Entered>) =>
  Promise.race([Promise.resolve(entered).then(() => true), Promise.resolve().then(() => false)])

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => vi.useRealTimers())

describe("room for calls and bytes", () => {
  it("lets a call wait while 8 MiB of its key are on their way, and start when one answer has left", async () => {
    const { enter } = makeTurns()
    const first = await started(enter(caller("a"), 5 * mebibyte, stays))
    await started(enter(caller("a"), 5 * mebibyte, stays))
    const third = enter(caller("a"), 0, stays)
    expect(await settled(third)).toBe(false)
    first.end()
    await started(third)
  })

  it("counts an answer as what it is once that is known", async () => {
    const { enter, unsentBytes } = makeTurns()
    const turn = await started(enter(caller("a"), 9 * mebibyte, stays))
    const second = enter(caller("a"), 0, stays)
    expect(await settled(second)).toBe(false)
    turn.setBytes(1_000)
    await started(second)
    expect(unsentBytes()).toBe(1_000)
  })

  it("lets a call start that alone exceeds the room of its key", async () => {
    const { enter } = makeTurns()
    await started(enter(caller("a"), 100 * mebibyte, stays))
  })

  it("bounds an account with all its keys together, and no other account", async () => {
    const { enter } = makeTurns()
    for (const key of ["1", "2", "3", "4"]) await started(enter(caller("a", key), 4 * mebibyte, stays))
    expect(await settled(enter(caller("a", "5"), 0, stays))).toBe(false)
    await started(enter(caller("b"), 0, stays))
  })

  it("bounds the calls of a key at 1,024 and those of an account at 2,048", async () => {
    const { enter } = makeTurns()
    for (const key of ["1", "2"])
      for (let call = 0; call < 1024; call++) await started(enter(caller("a", key), 0, stays))
    expect(await settled(enter(caller("a", "1"), 0, stays))).toBe(false)
    expect(await settled(enter(caller("a", "3"), 0, stays))).toBe(false)
    await started(enter(caller("b"), 0, stays))
  })

  it("lets large answers wait at 256 MiB of all accounts together, and small ones at 64 MiB more", async () => {
    const { enter, isFull } = makeTurns()
    const turns: Array<Turn> = []
    for (let account = 0; account < 16; account++) {
      expect(isFull()).toBe(false)
      turns.push(await started(enter(caller(String(account)), 16 * mebibyte, stays)))
    }
    expect(isFull()).toBe(true)
    const large = enter(caller("large"), largeBytes, stays)
    expect(await settled(large)).toBe(false)
    const small = await started(enter(caller("small"), 0, stays))
    small.setBytes(64 * mebibyte)
    const another = enter(caller("another"), 0, stays)
    expect(await settled(another)).toBe(false)
    small.end()
    await started(another)
    turns[0]?.end()
    await started(large)
  })

  it("gives back only once what a turn held", async () => {
    const { enter, unsentBytes } = makeTurns()
    const turn = await started(enter(caller("a"), 100, stays))
    await started(enter(caller("a"), 10, stays))
    turn.end()
    turn.end()
    turn.setBytes(1_000)
    expect(unsentBytes()).toBe(10)
  })
})

describe("calls that wait", () => {
  it("give up after five seconds", async () => {
    const { enter, waiting } = makeTurns()
    await started(enter(caller("a"), 8 * mebibyte, stays))
    const second = enter(caller("a"), 0, stays)
    vi.advanceTimersByTime(4_999)
    expect(await settled(second)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(await second).toBe("late")
    expect(waiting()).toBe(0)
  })

  it("are at most 128 of a key and 256 of an account; one more is late at once", async () => {
    const { enter, waiting } = makeTurns()
    for (const key of ["1", "2"]) await started(enter(caller("a", key), 8 * mebibyte, stays))
    for (let call = 0; call < 128; call++) enter(caller("a", "1"), 0, stays)
    expect(enter(caller("a", "1"), 0, stays)).toBe("late")
    for (let call = 0; call < 128; call++) enter(caller("a", "2"), 0, stays)
    expect(enter(caller("a", "3"), 0, stays)).toBe("late")
    expect(waiting()).toBe(256)
  })

  it("leave with their caller", async () => {
    const { enter, waiting } = makeTurns()
    await started(enter(caller("a"), 8 * mebibyte, stays))
    const leaving = new AbortController()
    const second = enter(caller("a"), 0, leaving.signal)
    leaving.abort()
    expect(await second).toBe("left")
    expect(waiting()).toBe(0)
    expect(await enter(caller("a"), 0, leaving.signal)).toBe("left")
  })
})

it("gives the event loop to one step in each of its rounds, to accounts by turns", async () => {
  const { step } = makeTurns()
  const order: Array<string> = []
  let rounds = 0
  const count = () => {
    rounds++
    if (order.length < 7) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(["a", "a", "a", "a", "a", "b", "b"].map((account) => step(account).then(() => order.push(account))))
  expect(order).toEqual(["a", "a", "b", "a", "b", "a", "a"])
  expect(rounds).toBeGreaterThanOrEqual(6)
})
