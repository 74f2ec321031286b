import { expect, it } from "vitest"
import { makeSlots } from "./slots.ts"

it("fills its slots, then serves accounts round robin, and drops waiting callers that disconnect", async () => {
  const { acquire, release } = makeSlots(1)
  const order: Array<string> = []
  const takeSlot = async (account: string, name: string, signal?: AbortSignal) => {
    if (await acquire(account, signal)) order.push(name)
    else order.push(`${name} left`)
  }
  const leaving = new AbortController()
  const all = [
    takeSlot("a", "a1"),
    takeSlot("a", "a2"),
    takeSlot("a", "a3", leaving.signal),
    takeSlot("a", "a4"),
    takeSlot("b", "b1"),
    takeSlot("b", "b2", AbortSignal.abort())
  ]
  leaving.abort()
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    release()
  }
  await Promise.all(all)
  expect(order).toEqual(["a1", "b2 left", "a3 left", "a2", "b1", "a4"])
})
