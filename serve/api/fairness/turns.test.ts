import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Entered, largeBytes, makeTurns, type Turn } from "./turns.ts"

const neverAborts = new AbortController().signal
const mebibyte = 2 ** 20
const caller = (account: string, key = "key") => ({ id: `${account}-${key}`, account_id: account })

const waitForTurn = async (entered: Entered | Promise<Entered>): Promise<Turn> => {
  const turn = await entered
  if (typeof turn === "string") throw new Error(`The call did not enter: ${turn}`)
  return turn
}

/** Whether the call has already entered or been refused. */
const hasSettled = (entered: Entered | Promise<Entered>) =>
  Promise.race([Promise.resolve(entered).then(() => true), Promise.resolve().then(() => false)])

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => vi.useRealTimers())

describe("quotas for calls and bytes", () => {
  it("delays a call while 8 MiB of its key are in flight, until one answer is sent", async () => {
    const { enter } = makeTurns()
    const first = await waitForTurn(enter(caller("a"), 5 * mebibyte, neverAborts))
    await waitForTurn(enter(caller("a"), 5 * mebibyte, neverAborts))
    const third = enter(caller("a"), 0, neverAborts)
    expect(await hasSettled(third)).toBe(false)
    first.end()
    await waitForTurn(third)
  })

  it("counts the real size of an answer once it is known", async () => {
    const { enter, unsentBytes } = makeTurns()
    const turn = await waitForTurn(enter(caller("a"), 9 * mebibyte, neverAborts))
    const second = enter(caller("a"), 0, neverAborts)
    expect(await hasSettled(second)).toBe(false)
    turn.setBytes(1_000)
    await waitForTurn(second)
    expect(unsentBytes()).toBe(1_000)
  })

  it("lets a call start that alone exceeds the quota of its key", async () => {
    const { enter } = makeTurns()
    await waitForTurn(enter(caller("a"), 100 * mebibyte, neverAborts))
  })

  it("limits all keys of an account together, but no other account", async () => {
    const { enter } = makeTurns()
    for (const key of ["1", "2", "3", "4"]) await waitForTurn(enter(caller("a", key), 4 * mebibyte, neverAborts))
    expect(await hasSettled(enter(caller("a", "5"), 0, neverAborts))).toBe(false)
    await waitForTurn(enter(caller("b"), 0, neverAborts))
  })

  it("limits the calls of a key to 1,024 and those of an account to 2,048", async () => {
    const { enter } = makeTurns()
    for (const key of ["1", "2"])
      for (let call = 0; call < 1024; call++) await waitForTurn(enter(caller("a", key), 0, neverAborts))
    expect(await hasSettled(enter(caller("a", "1"), 0, neverAborts))).toBe(false)
    expect(await hasSettled(enter(caller("a", "3"), 0, neverAborts))).toBe(false)
    await waitForTurn(enter(caller("b"), 0, neverAborts))
  })

  it("delays large answers at 256 MiB of all accounts together, and small ones at 64 MiB more", async () => {
    const { enter, isFull } = makeTurns()
    const turns: Array<Turn> = []
    for (let account = 0; account < 16; account++) {
      expect(isFull()).toBe(false)
      turns.push(await waitForTurn(enter(caller(String(account)), 16 * mebibyte, neverAborts)))
    }
    expect(isFull()).toBe(true)
    const large = enter(caller("large"), largeBytes, neverAborts)
    expect(await hasSettled(large)).toBe(false)
    const small = await waitForTurn(enter(caller("small"), 0, neverAborts))
    small.setBytes(64 * mebibyte)
    const another = enter(caller("another"), 0, neverAborts)
    expect(await hasSettled(another)).toBe(false)
    small.end()
    await waitForTurn(another)
    turns[0]?.end()
    await waitForTurn(large)
  })

  it("releases the bytes of a turn only once", async () => {
    const { enter, unsentBytes } = makeTurns()
    const turn = await waitForTurn(enter(caller("a"), 100, neverAborts))
    await waitForTurn(enter(caller("a"), 10, neverAborts))
    turn.end()
    turn.end()
    turn.setBytes(1_000)
    expect(unsentBytes()).toBe(10)
  })
})

describe("waiting calls", () => {
  it("time out after five seconds", async () => {
    const { enter, waiting } = makeTurns()
    await waitForTurn(enter(caller("a"), 8 * mebibyte, neverAborts))
    const second = enter(caller("a"), 0, neverAborts)
    vi.advanceTimersByTime(4_999)
    expect(await hasSettled(second)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(await second).toBe("late")
    expect(waiting()).toBe(0)
  })

  it("are limited to 128 per key and 256 per account; another one is refused immediately", async () => {
    const { enter, waiting } = makeTurns()
    for (const key of ["1", "2"]) await waitForTurn(enter(caller("a", key), 8 * mebibyte, neverAborts))
    for (let call = 0; call < 128; call++) enter(caller("a", "1"), 0, neverAborts)
    expect(enter(caller("a", "1"), 0, neverAborts)).toBe("late")
    for (let call = 0; call < 128; call++) enter(caller("a", "2"), 0, neverAborts)
    expect(enter(caller("a", "3"), 0, neverAborts)).toBe("late")
    expect(waiting()).toBe(256)
  })

  it("end if their caller disconnects", async () => {
    const { enter, waiting } = makeTurns()
    await waitForTurn(enter(caller("a"), 8 * mebibyte, neverAborts))
    const leaving = new AbortController()
    const second = enter(caller("a"), 0, leaving.signal)
    leaving.abort()
    expect(await second).toBe("left")
    expect(waiting()).toBe(0)
    expect(await enter(caller("a"), 0, leaving.signal)).toBe("left")
  })
})

it("runs one step per iteration of the event loop, accounts round robin", async () => {
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
