/**
 * Makes a ledger with many entries: what the state machine would have written in a year, taken up and with its snapshot, as
 * a server leaves it. Ten million entries take a good minute and 0.6 GB.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import { fingerprint, last4, newApiKey } from "@larder/serve/access/api-key.ts"
import { creditAccount, type Decision, issueKey, openAccount } from "@larder/serve/ledger/decisions.ts"
import { bytesOf } from "@larder/serve/ledger/embedded/journal-group.ts"
import { type LedgerDatabase, openDatabase } from "@larder/serve/ledger/embedded/ledger-database.ts"
import { renewSnapshot } from "@larder/serve/ledger/embedded/snapshot.ts"
import { takeUp } from "@larder/serve/ledger/embedded/tables.ts"
import { apply, chain, charge, type Hold, hold, restore, settle } from "@larder/serve/ledger/machine.ts"
import { Effect, Result } from "effect"

const year = 365 * 86_400_000
const price = 10
const endpoints = ["/v1/commodities/prices", "/v1/branded-foods", "/v1/stores"]
const entriesPerGroup = 20_000
const groupsPerFile = 25

export interface LedgerSize {
  readonly entries: number
  readonly accounts: number
  readonly keysOfEach: number
}

const nothing: Decision = { accounts: [], keys: [], entries: [] }
const idOf = (prefix: string, number: number) => `${prefix}${String(number).padStart(20, "0")}`

const births = (accounts: number, keys: number, credits: number, token: string, now: number) =>
  Array.from({ length: accounts }, (_, index) => index).flatMap((index): ReadonlyArray<Decision> => {
    const id = idOf("acct_", index)
    const issued = Array.from({ length: keys }, (_, number) => {
      const secret = index === 0 && number === 0 ? token : newApiKey()
      const key = { id: idOf("key_", index * keys + number), account_id: id, name: "a key", budget_credits: credits }
      return Result.getOrThrow(
        issueKey(
          { ...key, scopes: ["get-commodity-prices"], sha256: fingerprint(secret), last4: last4(secret) },
          number,
          now
        )
      )
    })
    return [
      openAccount(id, `account ${index}`, now),
      Result.getOrThrow(creditAccount({ id, balance_credits: 0 }, credits, "paid in advance", now)),
      ...issued
    ]
  })

/**
 * Writes a new ledger in `directory`, its entries evenly over the year before now, accounts and keys. Answers one of the
 * keys, which may read prices.
 */
export const makeLargeLedger = (directory: string, size: LedgerSize): Promise<string> => {
  const { accounts, entries, keysOfEach: keys } = size
  const token = newApiKey()
  const credits = (entries + 1) * price
  const start = Date.now() - year
  const state = restore({ sequence: 0, accounts: [], keys: [], spending: [], booked: [] })
  const file = path.join(directory, "part.ndjson")

  const write = (decision: Decision, holds: ReadonlyArray<Hold> = []) => {
    const group = { ...decision, entries: chain(state, decision.entries) }
    appendFileSync(file, bytesOf(1, group))
    apply(state, group)
    for (const held of holds) settle(held)
  }
  const writeCalls = (count: number) => {
    const holds = Array.from({ length: count }, (_, index) => {
      const number = state.sequence + index
      const at = start + Math.floor((number / entries) * year)
      const admission = hold(
        state,
        idOf("key_", number % (accounts * keys)),
        endpoints[Math.floor(number / (accounts * keys)) % 3] ?? "",
        price,
        at
      )
      if ("refused" in admission) throw new Error(`call ${number} was refused: ${admission.refused}`)
      return admission.hold
    })
    const drafts = holds.flatMap((held, index) => charge(state, held, `req_${state.sequence + index}`) ?? [])
    write({ ...nothing, entries: drafts }, holds)
  }
  const fill = Effect.fnUntraced(function* ({ use }: LedgerDatabase) {
    for (const birth of births(accounts, keys, credits, token, start)) write(birth)
    while (state.sequence < entries) {
      for (let group = 0; group < groupsPerFile && state.sequence < entries; group++) {
        writeCalls(Math.min(entriesPerGroup, entries - state.sequence))
      }
      yield* use((db) => db.run(takeUp(file)))
      rmSync(file)
      const [problem] = yield* use((db) => renewSnapshot(db))
      if (problem !== undefined) return yield* Effect.die(problem)
    }
  })
  mkdirSync(directory, { recursive: true })
  return openDatabase(path.join(directory, "ledger.duckdb")).pipe(
    Effect.flatMap(fill),
    Effect.scoped,
    Effect.as(token),
    Effect.runPromise
  )
}
