import type { NewKey } from "@larder/serve/ledger"
import { describe, expect, it } from "vitest"
import type { Reply } from "../support/api/check-response.ts"
import { administer, createKey, listEntries } from "../support/api/operator.ts"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { makeFixedClock } from "./conditions.ts"

// half a day ahead of UTC: a month counted in local time would begin 14 hours too early
const clock = makeFixedClock("2031-01-15T12:00:00.000Z")
const api = startOwnServer({ environment: { ...clock.environment, TZ: "Pacific/Kiritimati" } })

const cheap = "/v1/commodities?commodity=butter" // 10 credits
const expensive = "/v1/stores" // 100 credits
const noBalance = "402 insufficient_balance: Insufficient balance"
const capReached = "402 insufficient_balance: Monthly spend cap reached"

const call = (target: string, { key }: NewKey) => api.get(target, { key })
const readRemaining = ({ headers }: Reply) => Number(headers["x-credits-remaining"])
const edit = ({ id }: NewKey, budget_credits: number) =>
  administer(api.home(), (ledger) => ledger.editKey({ key_id: id, budget_credits }))
const credit = ({ account_id }: NewKey, credits: number) =>
  administer(api.home(), (ledger) => ledger.creditAccount({ account_id, credits, note: "test" }))
const callRepeatedly = async (count: number, target: string, key: NewKey) => {
  const replies: Array<Reply> = []
  for (let n = 0; n < count; n++) replies.push(await call(target, key))
  return replies
}
/** Charged credits in the ledger, as positive numbers, in order. */
const listCharges = async ({ account_id }: NewKey) =>
  (await listEntries(api.home(), account_id)).flatMap((entry) => (entry.type === "charge" ? [-entry.credits] : []))

describe("the price of a call", () => {
  it.each([
    ["/v1/commodities", 10],
    ["/v1/commodities?limit=1", 10],
    ["/v1/commodities/prices?series=butter-sales-price-weekly", 10],
    ["/v1/commodities/metric-values?metrics=butter_sales_price_weekly", 10],
    ["/v1/branded-foods", 10],
    ["/v1/branded-foods/categories", 10],
    ["/v1/stores", 100]
  ])("charges %s with %i credits", async (target, credits) => {
    const before = readRemaining(await api.get("/v1/commodities?limit=0"))
    const reply = await api.get(target)
    expect([reply.status, reply.headers["x-credits-charged"]]).toEqual([200, String(credits)])
    expect(readRemaining(reply)).toBe(before - credits)
  })

  it("is documented for all eleven endpoints", () => {
    const prices = Object.entries(api.client().document.paths).map(([path, { get }]) => [path, get["x-credits"]])
    expect(Object.fromEntries(prices)).toEqual({
      "/v1/commodities": 10,
      "/v1/commodities/prices": 10,
      "/v1/commodities/metric-values": 10,
      "/v1/branded-foods": 10,
      "/v1/branded-foods/categories": 10,
      "/v1/branded-foods/{id}": 10,
      "/v1/stores": 100,
      "/v1/stores/{id}": 100,
      "/v1/stores/{id}/products": 100,
      "/v1/stores/{id}/collections": 100,
      "/v1/products/{id}": 100
    })
  })

  it("is flat: a hundred names cost as much as one, and an empty result as much as a full one", async () => {
    const repeatName = (name: string) => Array.from({ length: 100 }, () => name).join(",")
    for (const target of [
      `/v1/commodities/prices?series=${repeatName("butter-sales-price-weekly")}`,
      "/v1/commodities/prices?series=butter-sales-price-weekly&from=2030-01-01",
      `/v1/commodities/metric-values?metrics=${repeatName("butter_sales_price_weekly")}`,
      "/v1/commodities?commodity=no-such-commodity",
      "/v1/commodities?limit=500"
    ]) {
      expect((await api.get(target)).headers["x-credits-charged"]).toBe("10")
    }
  })
})

describe("charging", () => {
  it("counts only successful calls: 400, 401, 403, 404 and 405 cost nothing", async () => {
    const key = await createKey(api.home(), { scopes: ["search-commodities", "get-product", "get-store"] })
    const errors = [
      await call("/v1/commodities?limit=0", key),
      await call("/v1/commodities?cursor=abc", key),
      await call("/v1/commodities?nonsense=1", key),
      await call("/v1/commodities/prices?series=butter-sales-price-weekly", key),
      await call("/v1/products/none", key),
      await call("/v1/stores/none", key),
      await call("/v1/none", key),
      await api.get(cheap, { key: `${key.key.slice(0, -1)}!` }),
      await api.get(cheap, { key: key.key, method: "POST" }),
      await api.get(cheap, { key: key.key, method: "HEAD" })
    ]
    expect(errors.map(({ status }) => status)).toEqual([400, 400, 400, 403, 404, 404, 404, 401, 405, 405])
    expect(readRemaining(await call(cheap, key))).toBe(4_990)
    expect(await listCharges(key)).toEqual([10])
  })

  it("records each call with time, account, key, endpoint, credits, request id and balance", async () => {
    clock.set("2031-01-15T12:00:01.234Z")
    const key = await createKey(api.home())
    const replies = [
      await call(cheap, key),
      await call(expensive, key),
      await call("/v1/branded-foods/categories", key)
    ]
    const charge = (index: number, endpoint: string, credits: number, balance: number) => ({
      sequence: expect.any(Number),
      position: index + 2,
      type: "charge",
      occurred_at: "2031-01-15T12:00:01.234Z",
      account_id: key.account_id,
      key_id: key.id,
      endpoint,
      credits: -credits,
      budget_credits: 100_000,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      request_id: replies[index]?.headers["x-request-id"],
      note: null,
      balance
    })
    const [grant, ...charges] = await listEntries(api.home(), key.account_id)
    expect(grant).toMatchObject({ type: "grant", credits: 5_000, balance: 5_000, key_id: null, request_id: null })
    expect(charges).toEqual([
      charge(0, "/v1/commodities", 10, 4_990),
      charge(1, "/v1/stores", 100, 4_890),
      charge(2, "/v1/branded-foods/categories", 10, 4_880)
    ])
  })

  it("charges a repeated request again: each 200 is a call", async () => {
    const key = await createKey(api.home())
    const replies = await callRepeatedly(3, cheap, key)
    expect(replies.map(readRemaining)).toEqual([4_990, 4_980, 4_970])
    expect(new Set(replies.map(({ headers }) => headers["x-request-id"])).size).toBe(3)
  })
})

/** The account whose balance the first test spends. Each test continues with the balance after the previous one. */
let emptyAccount = ""

describe("the balance", () => {
  it("starts at 5 USD, can be spent to exactly zero, and then covers no call", async () => {
    const key = await createKey(api.home())
    emptyAccount = key.account_id
    const replies = await callRepeatedly(50, expensive, key)
    expect(replies.map(readRemaining)).toEqual(Array.from({ length: 50 }, (_, n) => 4_900 - n * 100))
    const refused = await call(cheap, key)
    expect([formatError(refused), refused.headers["x-credits-charged"], readRemaining(refused)]).toEqual([
      noBalance,
      "0",
      0
    ])
    expect(refused.headers["x-error-code"]).toBe("insufficient_balance")
    expect((await listCharges(key)).reduce((sum, credits) => sum + credits, 0)).toBe(5_000)
  })

  it("refuses calls of all eleven endpoints when it is used up, before a record is looked up", async () => {
    const key = await createKey(api.home(), { account: emptyAccount })
    const required: Readonly<Record<string, string>> = {
      "/v1/commodities/prices": "?series=butter-sales-price-weekly",
      "/v1/commodities/metric-values": "?metrics=butter_sales_price_weekly"
    }
    const paths = Object.keys(api.client().document.paths)
    expect(paths.length).toBe(11)
    for (const path of paths) {
      const target = `${path.replace("{id}", "unknown")}${required[path] ?? ""}`
      expect([target, formatError(await call(target, key))]).toEqual([target, noBalance])
    }
  })

  it("admits a cheap call when it does not cover an expensive one", async () => {
    const key = await createKey(api.home())
    await callRepeatedly(49, expensive, key)
    expect(readRemaining(await call(cheap, key))).toBe(90)
    expect(formatError(await call(expensive, key))).toBe(noBalance)
    expect((await callRepeatedly(9, cheap, key)).map(readRemaining).at(-1)).toBe(0)
    expect(formatError(await call(cheap, key))).toBe(noBalance)
  })

  it("is shared by all keys of an account, and separate for each account", async () => {
    const first = await createKey(api.home())
    const other = await createKey(api.home(), { account: first.account_id })
    const unrelated = await createKey(api.home())
    await call(expensive, first)
    expect(readRemaining(await call(expensive, other))).toBe(4_800)
    expect(readRemaining(await call(expensive, unrelated))).toBe(4_900)
  })

  it("can be spent again from the next request on after a credit", async () => {
    const key = await createKey(api.home(), { account: emptyAccount })
    expect(formatError(await call(cheap, key))).toBe(noBalance)
    await credit(key, 15)
    expect(readRemaining(await call(cheap, key))).toBe(5)
    expect(formatError(await call(cheap, key))).toBe(noBalance)
    const [, ...entries] = await listEntries(api.home(), key.account_id)
    expect(entries.slice(-2).map(({ balance, credits, type }) => [type, credits, balance])).toEqual([
      ["adjustment", 15, 15],
      ["charge", -10, 5]
    ])
  })

  it("can be taken back below 0 by a debit, which applies to the next call and is booked once for its reference", async () => {
    const key = await createKey(api.home())
    expect((await call(cheap, key)).status).toBe(200)
    const debit = { account_id: key.account_id, credits: 6_000, note: "test", reference: "R" }
    const booked = [1, 2].map(() => administer(api.home(), (ledger) => ledger.debitAccount(debit)))
    const results = await Promise.all(booked)
    expect(results.map(({ balance_credits }) => balance_credits)).toEqual([-1_010, -1_010])
    expect(results.map(({ booked }) => booked).toSorted()).toEqual([false, true])
    expect(formatError(await call(cheap, key))).toBe(noBalance)
    await credit(key, 1_020)
    expect(readRemaining(await call(cheap, key))).toBe(0)
  })
})

describe("the monthly budget of a key", () => {
  it("can be spent to exactly zero, and then refuses its key but no other key of the account", async () => {
    const key = await createKey(api.home(), { budget: 30 })
    const other = await createKey(api.home(), { account: key.account_id })
    expect((await callRepeatedly(3, cheap, key)).map(readRemaining)).toEqual([20, 10, 0])
    const refused = await call(cheap, key)
    expect([formatError(refused), refused.headers["x-credits-charged"], readRemaining(refused)]).toEqual([
      capReached,
      "0",
      0
    ])
    expect(readRemaining(await call(cheap, other))).toBe(4_960)
  })

  it("refuses a call that would exceed it, and admits a cheaper one", async () => {
    const key = await createKey(api.home(), { budget: 105 })
    expect(readRemaining(await call(cheap, key))).toBe(95)
    expect(formatError(await call(expensive, key))).toBe(capReached)
    expect((await callRepeatedly(9, cheap, key)).map(readRemaining).at(-1)).toBe(5)
    expect(formatError(await call(cheap, key))).toBe(capReached)
  })

  it("pauses the key when it is 0", async () => {
    const key = await createKey(api.home(), { budget: 0 })
    const reply = await call(cheap, key)
    expect([formatError(reply), readRemaining(reply)]).toEqual([capReached, 0])
    await edit(key, 10)
    expect((await call(cheap, key)).status).toBe(200)
    await edit(key, 0)
    expect(formatError(await call(cheap, key))).toBe(capReached)
  })

  it("applies a change from the next request on, and keeps what was spent", async () => {
    const key = await createKey(api.home(), { budget: 20 })
    await callRepeatedly(2, cheap, key)
    expect(formatError(await call(cheap, key))).toBe(capReached)
    await edit(key, 40)
    expect(readRemaining(await call(cheap, key))).toBe(10)
    await edit(key, 25)
    const lowered = await call(cheap, key)
    expect([formatError(lowered), readRemaining(lowered)]).toEqual([capReached, 0])
  })

  it("limits X-Credits-Remaining to the smaller of the remaining budget and the balance", async () => {
    const key = await createKey(api.home(), { budget: 4_950 })
    expect(readRemaining(await call(cheap, key))).toBe(4_940)
    const other = await createKey(api.home(), { account: key.account_id })
    await call(expensive, other)
    expect(readRemaining(await call(cheap, key))).toBe(4_880)
    await edit(key, 60)
    expect(readRemaining(await call(cheap, key))).toBe(30)
  })

  it("is not named in the error if the balance does not cover the call either", async () => {
    const key = await createKey(api.home(), { account: emptyAccount, budget: 0 })
    expect(formatError(await call(cheap, key))).toBe(noBalance)
    await credit(key, 100)
    expect(formatError(await call(cheap, key))).toBe(capReached)
  })

  it("counts per calendar month in UTC, even if the server has another time zone", async () => {
    const key = await createKey(api.home(), { budget: 20 })
    clock.set("2031-01-31T09:59:59.999Z") // 23:59 in the server's own zone
    expect((await callRepeatedly(2, cheap, key)).map(readRemaining)).toEqual([10, 0])
    for (const january of ["2031-01-31T10:00:00.000Z", "2031-01-31T23:59:59.999Z"]) {
      clock.set(january)
      expect(formatError(await call(cheap, key))).toBe(capReached)
    }
    clock.set("2031-02-01T00:00:00.000Z")
    expect((await callRepeatedly(2, cheap, key)).map(readRemaining)).toEqual([10, 0])
    expect(formatError(await call(cheap, key))).toBe(capReached)
    clock.set("2032-02-01T00:00:00.000Z") // the same month of another year
    expect(readRemaining(await call(cheap, key))).toBe(10)
    const days = (await listEntries(api.home(), key.account_id)).map(({ occurred_at }) => occurred_at)
    expect(days.slice(1)).toEqual([
      "2031-01-31T09:59:59.999Z",
      "2031-01-31T09:59:59.999Z",
      "2031-02-01T00:00:00.000Z",
      "2031-02-01T00:00:00.000Z",
      "2032-02-01T00:00:00.000Z"
    ])
  })

  it("leaves the balance as it is when a new month begins", async () => {
    clock.set("2033-03-31T23:59:59.000Z")
    const key = await createKey(api.home(), { account: emptyAccount })
    expect((await callRepeatedly(10, cheap, key)).map(readRemaining).at(-1)).toBe(5)
    clock.set("2033-04-01T00:00:00.000Z")
    expect(formatError(await call(cheap, key))).toBe(noBalance)
  })
})

describe("many calls at once", () => {
  it("admits exactly 20 of 64 calls when the budget is enough for 20", async () => {
    const key = await createKey(api.home(), { budget: 200 })
    const replies = await Promise.all(Array.from({ length: 64 }, () => call(cheap, key)))
    expect(replies.filter(({ status }) => status === 200).length).toBe(20)
    expect(new Set(replies.filter(({ status }) => status !== 200).map(formatError))).toEqual(new Set([capReached]))
    expect((await listCharges(key)).length).toBe(20)
  })

  it("admits exactly 50 of 90 calls of three keys when their balance is enough for 50", async () => {
    const keys = [await createKey(api.home())]
    const account = keys[0]?.account_id ?? ""
    keys.push(await createKey(api.home(), { account }), await createKey(api.home(), { account }))
    const replies = await Promise.all(keys.flatMap((key) => Array.from({ length: 30 }, () => call(expensive, key))))
    expect(replies.filter(({ status }) => status === 200).length).toBe(50)
    expect(new Set(replies.filter(({ status }) => status !== 200).map(formatError))).toEqual(new Set([noBalance]))
    const entries = await listEntries(api.home(), account)
    expect(entries.at(-1)?.balance).toBe(0)
    expect(
      entries
        .filter(({ type }) => type === "charge")
        .map(({ request_id }) => request_id)
        .toSorted()
    ).toEqual(
      replies
        .filter(({ status }) => status === 200)
        .map(({ headers }) => String(headers["x-request-id"]))
        .toSorted()
    )
  })
})
