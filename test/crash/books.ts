/** Compares what the callers have seen with what the ledger tells an operator. */
import { readdirSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { AccountSummary, Entry, KeySummary, Verification } from "@larder/serve/ledger"
import { Effect, Stream } from "effect"
import { expect } from "vitest"
import { administer } from "../support/api/operator.ts"
import type { Cashier } from "./cashier.ts"
import type { Call, Cast, Place } from "./cast.ts"
import type { Diary } from "./diary.ts"

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

interface Told {
  readonly accounts: ReadonlyArray<AccountSummary>
  /** Of the account with the key that reaches its budget. */
  readonly keys: ReadonlyArray<KeySummary>
  readonly entries: ReadonlyMap<string, ReadonlyArray<Entry>>
  readonly verification: Verification
}

/** Servers on PostgreSQL book the refunds of calls that they refused in doubt while they work. */
const untilNothingIsInDoubt = async ({ environment, home }: Place) => {
  if (environment.LARDER_LEDGER_URL === undefined) return
  while (readdirSync(path.join(home, "ledger", "in-doubt")).length > 0) await sleep(50)
}

const ask = ({ home }: Place, { accounts: ids, rich }: Cast): Promise<Told> =>
  administer(home, (ledger) =>
    Effect.gen(function* () {
      const entriesOf = (id: string) =>
        Effect.map(Stream.runCollect(ledger.entriesOf(id)), (entries) => [id, entries] as const)
      return {
        accounts: yield* ledger.listAccounts({}),
        verification: yield* ledger.verify({}),
        keys: yield* ledger.listKeys({ account_id: rich }),
        entries: new Map(yield* Effect.forEach(ids, entriesOf))
      }
    })
  )

/** Every balance is the sum of its entries, below 0 by no more than money went out, and no key has spent more than it may. */
const sumProblems = ({ accounts, entries, keys, verification }: Told): ReadonlyArray<string> => {
  const problems = [...verification.problems]
  const wanted = (what: string, is: unknown, shouldBe: unknown) => {
    if (is !== shouldBe) problems.push(`${what}: ${is} instead of ${shouldBe}`)
  }
  for (const { balance_credits, id } of accounts) {
    const rows = entries.get(id) ?? []
    wanted(`balance of ${id}`, balance_credits, sum(rows.map(({ credits }) => credits)))
    wanted(`balance after the last entry of ${id}`, rows.at(-1)?.balance, balance_credits)
    let moneyOut = 0
    for (const { balance, credits, position, type } of rows) {
      if (credits < 0 && type !== "charge") moneyOut -= credits
      if (balance + moneyOut < 0) problems.push(`${id} has ${balance} after ${position}`)
    }
  }
  for (const { budget_usd, id, spent_usd } of keys) {
    if (spent_usd > budget_usd) problems.push(`${id} has spent ${spent_usd} USD of ${budget_usd}`)
  }
  wanted("entries", verification.entries, sum([...entries.values()].map(({ length }) => length)))
  return problems
}

/** What was charged and not given back, by request id. A refund may follow its charge once. */
const chargesIn = (entries: ReadonlyArray<Entry>, problems: Array<string>): Map<string, Entry> => {
  const charges = new Map<string, Entry>()
  const refunded = new Set<string>()
  for (const entry of entries) {
    const { credits, key_id, request_id, type } = entry
    if (request_id === null || key_id === null) continue // not of a call
    const charge = charges.get(request_id)
    if (type === "charge") {
      if (charge !== undefined || refunded.has(request_id)) problems.push(`${request_id} was charged twice`)
      charges.set(request_id, entry)
    } else {
      if (type !== "refund" || charge?.credits !== -credits) problems.push(`${request_id} has a ${type} of ${credits}`)
      charges.delete(request_id)
      refunded.add(request_id)
    }
  }
  return charges
}

const isChargeOf = ({ credits, endpoint, key_id }: Entry, call: Call) =>
  key_id === call.key.id && endpoint === call.endpoint && credits === -call.credits

/** `settled`: request ids of charges without a received 200 that an earlier check has explained. */
export const makeBooks = (place: Place, cast: Cast, diary: Diary, cashier: Cashier) => {
  const settled = new Set<string>()
  let refunds = 0
  let belowZero = 0

  /** Each 200 is charged once, and nothing else but calls that broke off since the last check, each at most once. */
  const callProblems = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
    const problems: Array<string> = []
    const charges = chargesIn(entries, problems)
    refunds = entries.filter(({ key_id, type }) => type === "refund" && key_id !== null).length
    belowZero = entries.filter(({ balance }) => balance < 0).length
    for (const [requestId, call] of diary.paid) {
      const charge = charges.get(requestId)
      if (charge === undefined) problems.push(`the 200 of ${requestId} is not charged`)
      else if (!isChargeOf(charge, call)) problems.push(`${requestId} was charged otherwise: ${JSON.stringify(charge)}`)
    }
    for (const requestId of settled) {
      if (!charges.has(requestId)) problems.push(`${requestId} was in the ledger and is not any more`)
    }
    for (const [requestId, charge] of charges) {
      if (diary.paid.has(requestId) || settled.has(requestId)) continue
      const index = diary.inDoubt.findIndex((call) => isChargeOf(charge, call))
      if (index < 0) problems.push(`nobody can have been charged with ${JSON.stringify(charge)}`)
      else diary.inDoubt.splice(index, 1)
      settled.add(requestId)
    }
    diary.inDoubt.length = 0
    return problems
  }

  return {
    /** Nobody may be calling meanwhile. */
    check: async (): Promise<void> => {
      await untilNothingIsInDoubt(place)
      const told = await ask(place, cast)
      const entries = [...told.entries.values()].flat()
      const problems = [
        ...sumProblems(told),
        ...callProblems(entries),
        ...cashier.problems(entries),
        ...diary.surprises
      ]
      expect(problems.slice(0, 10)).toEqual([])
    },
    counts: (): Readonly<Record<string, number>> => ({
      "answers of 200": diary.paid.size,
      "charges without a received 200": settled.size,
      bookings: cashier.count(),
      "balances below 0": belowZero,
      refunds,
      ...Object.fromEntries(Object.entries(diary.statuses).map(([status, count]) => [`× ${status}`, count]))
    })
  }
}

export type Books = ReturnType<typeof makeBooks>
