/** Compares the responses of the callers with the ledger. */
import { readdirSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { AccountSummary, Entry, KeySummary, Verification } from "@larder/serve/ledger"
import { Effect, Stream } from "effect"
import { expect } from "vitest"
import { administer } from "../support/api/operator.ts"
import type { Actors, Call, Setup } from "./actors.ts"
import type { BookingActor } from "./bookings.ts"
import type { Observations } from "./observations.ts"

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

interface LedgerContent {
  readonly accounts: ReadonlyArray<AccountSummary>
  /** The keys of the account with the key that reaches its budget. */
  readonly keys: ReadonlyArray<KeySummary>
  readonly entries: ReadonlyMap<string, ReadonlyArray<Entry>>
  readonly verification: Verification
}

/** Servers on PostgreSQL book the refunds of in-doubt calls while they serve. */
const waitForRefunds = async ({ environment, home }: Setup) => {
  if (environment.LARDER_LEDGER_URL === undefined) return
  while (readdirSync(path.join(home, "ledger", "in-doubt")).length > 0) await sleep(50)
}

const readLedger = ({ home }: Setup, { accounts: ids, rich }: Actors): Promise<LedgerContent> =>
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

/** Each balance is the sum of its entries, its debt at most what bookings deducted. No key has exceeded its budget. */
const findSumProblems = ({ accounts, entries, keys, verification }: LedgerContent): ReadonlyArray<string> => {
  const problems = [...verification.problems]
  const compare = (name: string, actual: unknown, expected: unknown) => {
    if (actual !== expected) problems.push(`${name}: ${actual} instead of ${expected}`)
  }
  for (const { balance_credits, id } of accounts) {
    const rows = entries.get(id) ?? []
    compare(`balance of ${id}`, balance_credits, sum(rows.map(({ credits }) => credits)))
    compare(`balance after the last entry of ${id}`, rows.at(-1)?.balance, balance_credits)
    let deducted = 0
    for (const { balance, credits, position, type } of rows) {
      if (credits < 0 && type !== "charge") deducted -= credits
      if (balance + deducted < 0) problems.push(`${id} has ${balance} after ${position}`)
    }
  }
  for (const { budget_usd, id, spent_usd } of keys) {
    if (spent_usd > budget_usd) problems.push(`${id} has spent ${spent_usd} USD of ${budget_usd}`)
  }
  compare("entries", verification.entries, sum([...entries.values()].map(({ length }) => length)))
  return problems
}

/** Charges without a refund, by request id. Each charge may be refunded once. */
const chargesIn = (entries: ReadonlyArray<Entry>, problems: Array<string>): Map<string, Entry> => {
  const charges = new Map<string, Entry>()
  const refunded = new Set<string>()
  for (const entry of entries) {
    const { credits, key_id, request_id, type } = entry
    if (request_id === null || key_id === null) continue // it does not belong to a call
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

/** `settled` contains request ids of charges without a received 200 that an earlier check has explained. */
export const makeLedgerChecks = (setup: Setup, actors: Actors, observations: Observations, bookings: BookingActor) => {
  const settled = new Set<string>()
  let refunds = 0
  let belowZero = 0

  /** Each 200 is charged once. Calls without a response since the last check may be charged, each once; nothing else is. */
  const findCallProblems = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
    const problems: Array<string> = []
    const charges = chargesIn(entries, problems)
    refunds = entries.filter(({ key_id, type }) => type === "refund" && key_id !== null).length
    belowZero = entries.filter(({ balance }) => balance < 0).length
    for (const [requestId, call] of observations.paid) {
      const charge = charges.get(requestId)
      if (charge === undefined) problems.push(`the 200 of ${requestId} is not charged`)
      else if (!isChargeOf(charge, call))
        problems.push(`${requestId} was charged differently: ${JSON.stringify(charge)}`)
    }
    for (const requestId of settled) {
      if (!charges.has(requestId)) problems.push(`${requestId} was in the ledger, and is missing now`)
    }
    for (const [requestId, charge] of charges) {
      if (observations.paid.has(requestId) || settled.has(requestId)) continue
      const index = observations.inDoubt.findIndex((call) => isChargeOf(charge, call))
      if (index < 0) problems.push(`no caller explains ${JSON.stringify(charge)}`)
      else observations.inDoubt.splice(index, 1)
      settled.add(requestId)
    }
    observations.inDoubt.length = 0
    return problems
  }

  return {
    /** No calls may be in flight. */
    run: async (): Promise<void> => {
      await waitForRefunds(setup)
      const content = await readLedger(setup, actors)
      const entries = [...content.entries.values()].flat()
      const problems = [
        ...findSumProblems(content),
        ...findCallProblems(entries),
        ...bookings.findProblems(entries),
        ...observations.problems
      ]
      expect(problems.slice(0, 10)).toEqual([])
    },
    counts: (): Readonly<Record<string, number>> => ({
      "responses with 200": observations.paid.size,
      "charges without a received 200": settled.size,
      bookings: bookings.count(),
      "balances below 0": belowZero,
      refunds,
      ...Object.fromEntries(Object.entries(observations.statuses).map(([status, count]) => [`× ${status}`, count]))
    })
  }
}

export type LedgerChecks = ReturnType<typeof makeLedgerChecks>
