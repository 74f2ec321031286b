import { Agent, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, describe, expect, it } from "vitest"
import { makeClient } from "../support/api/client.ts"
import { createKey, listEntries } from "../support/api/operator.ts"
import { findSharedServer } from "../support/api/server.ts"

const slugs = ["cheese-block-sales-price-weekly", "butter-exch-spot-close-daily", "milk-class-iii-price-monthly"]
const target = (call: number) => `/v1/commodities/prices?series=${slugs[call % slugs.length]}`
const callers = 24
const calls = 10 // with as many aborted ones, 483 of the 500 calls that a new account can pay for

describe("calls beside as many that are aborted", () => {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  afterAll(() => agent.destroy())

  /** Resolves when the connection is gone. */
  const abort = (api: string, key: string, call: number) =>
    new Promise<void>((resolve) => {
      const sent = request(`${api}${target(call)}`, { agent, headers: { authorization: `Bearer ${key}` } })
      sent.on("error", () => {}) // the abort
      sent.on("response", (response) => response.on("error", () => {}).resume())
      sent.on("close", resolve).end()
      void sleep(call % 8).then(() => sent.destroy())
    })

  it("get their own data, each is charged once, and an aborted call is charged at most once", async () => {
    const { home, server } = findSharedServer()
    const { account_id, key } = await createKey(home)
    const client = await makeClient(server.api)
    const expected = await Promise.all(slugs.map(async (_, index) => (await client.call(target(index), { key })).text))
    const wrong: Array<number> = []
    const check = async (caller: number) => {
      for (let call = caller; call < caller + calls; call++) {
        const { text } = await client.call(target(call), { key })
        if (text !== expected[call % slugs.length]) wrong.push(call)
      }
    }
    const abortAll = async (caller: number) => {
      for (let call = caller; call < caller + calls; call++) await abort(server.api, key, call)
    }
    const indexes = Array.from({ length: callers }, (_, caller) => caller)
    await Promise.all(indexes.flatMap((caller) => [check(caller), abortAll(caller)]))
    client.close()
    expect(wrong).toEqual([])
    const charged = (await listEntries(home, account_id)).flatMap(({ request_id, type }) =>
      type === "charge" ? [request_id] : []
    )
    expect(new Set(charged).size).toBe(charged.length)
    const received = client.charges.map(({ request_id }) => request_id)
    expect(received.filter((id) => !charged.includes(id))).toEqual([])
    expect(charged.length - received.length).toBeLessThanOrEqual(callers * calls)
  })
})
