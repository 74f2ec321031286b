import { expect, it } from "vitest"
import { makeSlots } from "./slots.ts"

it("fills its slots, then serves accounts round robin, and drops waiting callers that disconnect", async () => {
  const { acquire, release } = makeSlots(1)
  const order: Array<string> = []
  const inTurn = async (account: string, name: string, signal?: AbortSignal) => {
    if (await acquire(account, signal)) order.push(name)
    else order.push(`${name} left`)
  }
  const leaving = new AbortController()
  const all = [
    inTurn("a", "a1"),
    inTurn("a", "a2"),
    inTurn("a", "a3", leaving.signal),
    inTurn("a", "a4"),
    inTurn("b", "b1"),
    inTurn("b", "b2", AbortSignal.abort())
  ]
  leaving.abort()
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    release()
  }
  await Promise.all(all)
  expect(order).toEqual(["a1", "b2 left", "a3 left", "a2", "b1", "a4"])
})
