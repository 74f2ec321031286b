import { expect, it } from "vitest"
import { makeSlots } from "./slots.ts"

const runAll = async (release: () => void, acquisitions: ReadonlyArray<Promise<void>>) => {
  for (let iteration = 0; iteration < acquisitions.length; iteration++) {
    await new Promise((resolve) => setImmediate(resolve))
    release()
  }
  await Promise.all(acquisitions)
}

it("fills its slots, then serves accounts round robin, and drops waiting callers that disconnect", async () => {
  const { acquire, release } = makeSlots(1)
  const order: Array<string> = []
  const takeSlot = async (account: string, name: string, signal?: AbortSignal) => {
    if (await acquire(account, { signal })) order.push(name)
    else order.push(`${name} disconnected`)
  }
  const disconnecting = new AbortController()
  const acquisitions = [
    takeSlot("a", "a1"),
    takeSlot("a", "a2"),
    takeSlot("a", "a3", disconnecting.signal),
    takeSlot("a", "a4"),
    takeSlot("b", "b1"),
    takeSlot("b", "b2", AbortSignal.abort())
  ]
  disconnecting.abort()
  await runAll(release, acquisitions)
  expect(order).toEqual(["a1", "b2 disconnected", "a3 disconnected", "a2", "b1", "a4"])
})

it("serves what is urgent before the rest of its account, but not before other accounts", async () => {
  const { acquire, release } = makeSlots(1)
  const order: Array<string> = []
  const takeSlot = async (account: string, name: string, isUrgent: boolean) => {
    await acquire(account, { isUrgent })
    order.push(name)
  }
  await runAll(release, [
    takeSlot("a", "a1", false),
    takeSlot("a", "a2", false),
    takeSlot("b", "b1", false),
    takeSlot("a", "a3 urgent", true),
    takeSlot("a", "a4 urgent", true)
  ])
  expect(order).toEqual(["a1", "a3 urgent", "b1", "a4 urgent", "a2"])
})
