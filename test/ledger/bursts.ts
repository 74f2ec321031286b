/** Many concurrent calls, with credits for some of them. */
import { Agent } from "node:http"
import type { AccountSummary, KeySummary, Verification } from "@larder/serve/ledger"
import { describe, expect, it } from "vitest"
import type { Reply } from "../support/api/check-response.ts"
import { send } from "../support/api/client.ts"
import type { CreatedKey } from "../support/programs.ts"
import { site, sites } from "./site.ts"

const cheap = "/v1/commodities/prices?series=butter-sales-price-weekly&from=2026-09-01" // 10 credits
const expensive = "/v1/stores" // 100 credits
const noBalance = '402 {"error":{"type":"insufficient_balance","message":"Insufficient balance"}}'
const capReached = '402 {"error":{"type":"insufficient_balance","message":"Monthly spend cap reached"}}'

const describeReply = ({ status, text }: Reply) => (status === 200 ? "200" : `${status} ${text}`)
const countReplies = (replies: ReadonlyArray<Reply>): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(replies, describeReply)].map(([reply, group]) => [reply, group.length]))

/** `connections` is the number of concurrent calls; the others wait for a connection. */
export const bursts = ({ calls, connections }: { readonly calls: number; readonly connections: number }) =>
  describe.each(Object.keys(sites) as ReadonlyArray<keyof typeof sites>)(`a burst of ${calls} calls on %s`, (name) => {
    const { command, newKey, servers } = site(name)

    /** Alternates between keys and servers. */
    const burst = async (target: string, keys: ReadonlyArray<CreatedKey>) => {
      const agents = servers().map(() => new Agent({ keepAlive: true, maxSockets: connections / servers().length }))
      const replies = await Promise.all(
        Array.from({ length: calls }, (_, number) => {
          const key = keys[number % keys.length]?.key
          const index = Math.floor(number / keys.length) % agents.length
          const [agent, server] = [agents[index], servers()[index]]
          if (agent === undefined || server === undefined) throw new Error("the servers are started by beforeAll")
          return send(agent, server.api, target, { key })
        })
      )
      for (const agent of agents) agent.destroy()
      return countReplies(replies)
    }
    const readBalance = async ({ account_id }: CreatedKey) =>
      (await command<ReadonlyArray<AccountSummary>>("accounts", "list")).find(({ id }) => id === account_id)
        ?.balance_credits
    const readSpending = async (key: CreatedKey) =>
      (await command<ReadonlyArray<KeySummary>>("keys", "list", "--account", key.account_id)).map(
        ({ spent_usd }) => spent_usd
      )

    it("admits 50 calls of two keys if the balance covers 50, and the balance is zero", async () => {
      const first = await newKey()
      const settings = ["--name", "other", "--scopes", "all", "--budget-usd", "100"]
      const other = await command<CreatedKey>("keys", "create", "--account", first.account_id, ...settings)
      expect(await burst(expensive, [first, other])).toEqual({ "200": 50, [noBalance]: calls - 50 })
      expect(await readBalance(first)).toBe(0)
    })

    it("admits 123 calls if the budget covers 123, and the budget is spent", async () => {
      const key = await newKey({ budget: "1.23" })
      expect(await burst(cheap, [key])).toEqual({ "200": 123, [capReached]: calls - 123 })
      expect(await readSpending(key)).toEqual([1.23])
      expect(await readBalance(key)).toBe(5_000 - 1_230)
    })

    it("leaves a ledger that adds up", async () => {
      const { balance_credits, problems } = await command<Verification>("ledger", "verify")
      expect([balance_credits, problems]).toEqual([5_000 - 1_230, []])
    })
  })
