import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { type Acquired, largeBytes, makeLimiter, type Permit } from "./limiter.ts"

const neverAborts = new AbortController().signal
const mebibyte = 2 ** 20
const makeTestLimiter = () => {
  const { acquire, ...limiter } = makeLimiter()
  return {
    ...limiter,
    acquire: (caller: Parameters<typeof acquire>[0], bytes: number, signal: AbortSignal, requestBytes = 0) =>
      acquire(caller, bytes, signal, () => requestBytes)
  }
}

const caller = (account: string, key = "key") => ({ id: `${account}-${key}`, account_id: account })

const getPermit = async (acquired: Acquired | Promise<Acquired>): Promise<Permit> => {
  const permit = await acquired
  if (typeof permit === "string") throw new Error(`The call has no permit: ${permit}`)
  return permit
}

/** Whether the call already has a permit or was refused. */
const hasSettled = (acquired: Acquired | Promise<Acquired>) =>
  Promise.race([Promise.resolve(acquired).then(() => true), Promise.resolve().then(() => false)])

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => vi.useRealTimers())

describe("quotas for calls and bytes", () => {
  it("delays a call while 8 MiB of its key are in flight, until one response is sent", async () => {
    const { acquire } = makeTestLimiter()
    const first = await getPermit(acquire(caller("a"), 5 * mebibyte, neverAborts))
    await getPermit(acquire(caller("a"), 5 * mebibyte, neverAborts))
    const third = acquire(caller("a"), 0, neverAborts)
    expect(await hasSettled(third)).toBe(false)
    first.release()
    await getPermit(third)
  })

  it("counts the real size of a response once it is known", async () => {
    const { acquire, unsentBytes } = makeTestLimiter()
    const permit = await getPermit(acquire(caller("a"), 9 * mebibyte, neverAborts))
    const second = acquire(caller("a"), 0, neverAborts)
    expect(await hasSettled(second)).toBe(false)
    permit.setBytes(1_000)
    await getPermit(second)
    expect(unsentBytes()).toBe(1_000)
  })

  it("starts a single call that exceeds the quota of its key", async () => {
    const { acquire } = makeTestLimiter()
    await getPermit(acquire(caller("a"), 100 * mebibyte, neverAborts))
  })

  it("limits all keys of an account together, but no other account", async () => {
    const { acquire } = makeTestLimiter()
    for (const key of ["1", "2", "3", "4"]) await getPermit(acquire(caller("a", key), 4 * mebibyte, neverAborts))
    expect(await hasSettled(acquire(caller("a", "5"), 0, neverAborts))).toBe(false)
    await getPermit(acquire(caller("b"), 0, neverAborts))
  })

  it("limits the calls of a key to 1,024 and those of an account to 2,048", async () => {
    const { acquire } = makeTestLimiter()
    for (const key of ["1", "2"])
      for (let call = 0; call < 1024; call++) await getPermit(acquire(caller("a", key), 0, neverAborts))
    expect(await hasSettled(acquire(caller("a", "1"), 0, neverAborts))).toBe(false)
    expect(await hasSettled(acquire(caller("a", "3"), 0, neverAborts))).toBe(false)
    await getPermit(acquire(caller("b"), 0, neverAborts))
  })

  it("delays large responses at 256 MiB of all accounts together, and small ones at 64 MiB more", async () => {
    const { acquire, isFull } = makeTestLimiter()
    const permits: Array<Permit> = []
    for (let account = 0; account < 16; account++) {
      expect(isFull()).toBe(false)
      permits.push(await getPermit(acquire(caller(String(account)), 16 * mebibyte, neverAborts)))
    }
    expect(isFull()).toBe(true)
    const large = acquire(caller("large"), largeBytes, neverAborts)
    expect(await hasSettled(large)).toBe(false)
    const small = await getPermit(acquire(caller("small"), 0, neverAborts))
    small.setBytes(64 * mebibyte)
    const another = acquire(caller("another"), 0, neverAborts)
    expect(await hasSettled(another)).toBe(false)
    small.release()
    await getPermit(another)
    permits[0]?.release()
    await getPermit(large)
  })

  it("releases the bytes of a permit only once", async () => {
    const { acquire, unsentBytes } = makeTestLimiter()
    const permit = await getPermit(acquire(caller("a"), 100, neverAborts))
    await getPermit(acquire(caller("a"), 10, neverAborts))
    permit.release()
    permit.release()
    permit.setBytes(1_000)
    expect(unsentBytes()).toBe(10)
  })
})

describe("waiting calls", () => {
  it("time out after five seconds", async () => {
    const { acquire, waiting } = makeTestLimiter()
    await getPermit(acquire(caller("a"), 8 * mebibyte, neverAborts))
    const second = acquire(caller("a"), 0, neverAborts)
    vi.advanceTimersByTime(4_999)
    expect(await hasSettled(second)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(await second).toBe("too many in flight")
    expect(waiting()).toBe(0)
  })

  it("are limited to 1,024 per key, 2,048 per account and 8,192 overall; further ones are refused immediately", async () => {
    const { acquire, waiting } = makeTestLimiter()
    for (const account of ["a", "b", "c", "d", "e"])
      for (const key of ["1", "2"]) await getPermit(acquire(caller(account, key), 8 * mebibyte, neverAborts))
    for (let call = 0; call < 1024; call++) acquire(caller("a", "1"), 0, neverAborts)
    expect(acquire(caller("a", "1"), 0, neverAborts)).toBe("too many in flight")
    for (let call = 0; call < 1024; call++) acquire(caller("a", "2"), 0, neverAborts)
    expect(acquire(caller("a", "3"), 0, neverAborts)).toBe("too many in flight")
    for (const account of ["b", "c", "d"])
      for (const key of ["1", "2"])
        for (let call = 0; call < 1024; call++) acquire(caller(account, key), 0, neverAborts)
    expect(acquire(caller("e", "1"), 0, neverAborts)).toBe("too many in flight")
    expect(waiting()).toBe(8192)
  })

  it("with large requests are limited by their memory, to 20 MB per key", async () => {
    const { acquire, waiting } = makeTestLimiter()
    await getPermit(acquire(caller("a"), 8 * mebibyte, neverAborts))
    for (let call = 0; call < 20; call++) acquire(caller("a"), 0, neverAborts, 1_000_000)
    expect(acquire(caller("a"), 0, neverAborts, 1_000_000)).toBe("too many in flight")
    expect(await hasSettled(acquire(caller("a"), 0, neverAborts))).toBe(false)
    expect(waiting()).toBe(21)
  })

  it("end if their caller disconnects", async () => {
    const { acquire, waiting } = makeTestLimiter()
    await getPermit(acquire(caller("a"), 8 * mebibyte, neverAborts))
    const disconnecting = new AbortController()
    const second = acquire(caller("a"), 0, disconnecting.signal)
    disconnecting.abort()
    expect(await second).toBe("disconnected")
    expect(waiting()).toBe(0)
    expect(await acquire(caller("a"), 0, disconnecting.signal)).toBe("disconnected")
  })
})

it("runs one step per iteration of the event loop, accounts round robin", async () => {
  const { step } = makeTestLimiter()
  const order: Array<string> = []
  let rounds = 0
  const count = () => {
    rounds++
    if (order.length < 7) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(
    ["a", "a", "a", "a", "a", "b", "b"].map((account) => step(account, "read").then(() => order.push(account)))
  )
  expect(order).toEqual(["a", "a", "b", "a", "b", "a", "a"])
  expect(rounds).toBeGreaterThanOrEqual(6)
})
