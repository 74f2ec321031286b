/**
 * Makes a ledger with many entries, as the state machine would have written them in a year, with all sums up to date.
 * Ten million entries take about ten minutes and 3 GB.
 */
import { randomInt } from "node:crypto"
import { openLedgerFile, randomString } from "@larder/serve/ledger"
import { fingerprint, last4, newApiKey } from "@larder/serve/ledger/api-key.ts"
import { chainEntries } from "@larder/serve/ledger/chain/chain.ts"
import { updateSums } from "@larder/serve/ledger/embedded/progress.ts"
import { prepareGroupWrite } from "@larder/serve/ledger/embedded/write-group.ts"
import { draftCharge, endHold, type Hold, hold } from "@larder/serve/ledger/rules/admission.ts"
import { creditAccount, type Decision, issueKey } from "@larder/serve/ledger/rules/decisions.ts"
import { applyGroup, restoreState } from "@larder/serve/ledger/rules/ledger-state.ts"
import { openAccount } from "@larder/serve/ledger/rules/open-account.ts"
import { checkpoint } from "@larder/serve/persistence/checkpoints.ts"
import { Effect, Result } from "effect"

const year = 365 * 86_400_000
const price = 10
const endpoints = ["/v1/commodities/prices", "/v1/branded-foods", "/v1/stores"]
const entriesPerGroup = 5_000
/** Groups between updates of the sums, each with a checkpoint: otherwise the log grows by 1 GB per million entries. */
const groupsPerUpdate = 20
const creationsPerGroup = 1_000

const progress = import.meta.resolve("@larder/serve/ledger/embedded/progress.ts")
const checkpoints = import.meta.resolve("@larder/serve/persistence/checkpoints.ts")

export interface LedgerSize {
  readonly entries: number
  readonly accounts: number
  readonly keysPerAccount: number
  /** Order in which keys call. If it is random, the ids are random as well, so that indexes are updated in random places. */
  readonly order?: "round robin" | "random"
}

const makeId = (prefix: string, number: number) => `${prefix}${String(number).padStart(20, "0")}`

interface Names {
  readonly account: (number: number) => string
  readonly key: (number: number) => string
}

const numbered: Names = { account: (number) => makeId("acct_", number), key: (number) => makeId("key_", number) }
const makeRandomNames = ({ accounts, keysPerAccount }: LedgerSize): Names => {
  const accountIds = Array.from({ length: accounts }, () => `acct_${randomString(20)}`)
  const keyIds = Array.from({ length: accounts * keysPerAccount }, () => `key_${randomString(20)}`)
  return { account: (number) => accountIds[number] ?? "", key: (number) => keyIds[number] ?? "" }
}

const createAccounts = (
  { accounts, keysPerAccount: keys }: LedgerSize,
  names: Names,
  credits: number,
  token: string,
  now: number
) =>
  Array.from({ length: accounts }, (_, index) => index).flatMap((index): ReadonlyArray<Decision> => {
    const id = names.account(index)
    const issued = Array.from({ length: keys }, (_, number) => {
      const secret = index === 0 && number === 0 ? token : newApiKey()
      const key = { id: names.key(index * keys + number), account_id: id, name: "a key" }
      return Result.getOrThrow(
        issueKey(
          {
            ...key,
            scopes: ["get-commodity-prices"],
            budget_credits: credits,
            sha256: fingerprint(secret),
            last4: last4(secret)
          },
          number,
          now
        )
      )
    })
    return [
      openAccount(id, `account ${index}`, now),
      Result.getOrThrow(creditAccount({ id, balance_credits: 0 }, { credits, note: "paid in advance" }, now)),
      ...issued
    ]
  })

const combine = (decisions: ReadonlyArray<Decision>): Decision => ({
  accounts: decisions.flatMap(({ accounts }) => accounts),
  keys: decisions.flatMap(({ keys }) => keys),
  entries: decisions.flatMap(({ entries }) => entries)
})

/**
 * Writes a new ledger in `directory`, with accounts, keys and entries that are spread evenly over the last year. Returns
 * a key that may read prices.
 */
export const makeLargeLedger = (directory: string, size: LedgerSize): Promise<string> => {
  const { accounts, entries, keysPerAccount, order = "round robin" } = size
  const names = order === "random" ? makeRandomNames(size) : numbered
  const keys = accounts * keysPerAccount
  const token = newApiKey()
  const credits = (entries + 1) * price
  const start = Date.now() - year
  const state = restoreState({ sequence: 0, accounts: [], keys: [], spending: [], booked: [] })

  /** The key and endpoint of a call. Round robin, each key calls one endpoint after another. */
  const chooseCall = (number: number) => {
    const [key, endpoint] =
      order === "random" ? [randomInt(keys), randomInt(endpoints.length)] : [number % keys, Math.floor(number / keys)]
    return { key: names.key(key), endpoint: endpoints[endpoint % endpoints.length] ?? "" }
  }
  const makeCalls = (count: number) => {
    const holds = Array.from({ length: count }, (_, index): Hold => {
      const number = state.sequence + index
      const { endpoint, key } = chooseCall(number)
      const admission = hold(state, key, endpoint, price, start + Math.floor((number / entries) * year))
      if ("refused" in admission) throw new Error(`call ${number} was refused: ${admission.refused}`)
      return admission.hold
    })
    const drafts = holds.flatMap((held, index) => draftCharge(state, held, `req_${state.sequence + index}`) ?? [])
    return { decision: { accounts: [], keys: [], entries: drafts }, holds }
  }

  const fill = Effect.gen(function* () {
    const file = yield* openLedgerFile(directory)
    const writeGroup = prepareGroupWrite(file.sqlite)
    const write = (decision: Decision, holds: ReadonlyArray<Hold> = []) => {
      const group = { ...decision, entries: chainEntries(state, decision.entries) }
      file.sqlite.transaction(() => writeGroup(group))
      applyGroup(state, group)
      for (const held of holds) endHold(held, "captured")
    }
    const update = async () => {
      await file.thread.run(progress, updateSums)
      await file.thread.run(checkpoints, checkpoint)
    }
    yield* Effect.promise(async () => {
      const creations = createAccounts(size, names, credits, token, start)
      for (let at = 0; at < creations.length; at += creationsPerGroup)
        write(combine(creations.slice(at, at + creationsPerGroup)))
      while (state.sequence < entries) {
        for (let group = 0; group < groupsPerUpdate && state.sequence < entries; group++) {
          const { decision, holds } = makeCalls(Math.min(entriesPerGroup, entries - state.sequence))
          write(decision, holds)
        }
        await update()
      }
    })
  })
  return fill.pipe(Effect.scoped, Effect.as(token), Effect.runPromise)
}
