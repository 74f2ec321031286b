/** Conditions that are true after every step of every history. */
import assert from "node:assert/strict"
import type { Administration, AdministrationError, Entry } from "@larder/serve/ledger"
import { type ChainHead, emptyHead, findBreak } from "@larder/serve/ledger/chain/chain.ts"
import { type Effect, Result } from "effect"
import { type AccountModel, type Expected, isKnown, type KeyModel, textOfExpiry } from "./model.ts"
import type { World } from "./world.ts"

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

/** The entries of each account after the last step: written entries never change. */
export type PreviousEntries = Map<string, ReadonlyArray<Entry>>

const checkChain = (account: AccountModel, entries: ReadonlyArray<Entry>) => {
  let head: ChainHead = emptyHead
  let total = 0
  let deducted = 0
  for (const entry of entries) {
    assert.equal(findBreak(head, entry), undefined)
    total += entry.credits
    assert.equal(entry.account_id, account.id)
    assert.equal(entry.balance, total, `entry ${entry.position}: the balance is not the sum of the entries`)
    if (entry.credits < 0 && (entry.type === "refund" || entry.type === "adjustment")) deducted -= entry.credits
    assert.ok(entry.balance + deducted >= 0, `entry ${entry.position}: a balance of ${entry.balance}`)
    head = entry
  }
}

const isSame = (entry: Entry, expected: Expected) =>
  entry.type === expected.type &&
  entry.occurred_at === expected.occurred_at &&
  entry.key_id === expected.key_id &&
  entry.endpoint === expected.endpoint &&
  entry.credits === expected.credits &&
  entry.request_id === expected.request_id &&
  entry.note === expected.note &&
  entry.budget_credits === expected.budget_credits

/** The entries since the last step must be those that the model expects, each exactly once, and no others. */
const checkNew = (account: AccountModel, entries: ReadonlyArray<Entry>, before: ReadonlyArray<Entry>) => {
  for (const [index, entry] of before.entries()) {
    if (entries[index] !== entry) assert.deepEqual(entries[index], entry, "an entry that was written has changed")
  }
  const missing = account.expected.slice(before.length)
  for (const entry of entries.slice(before.length)) {
    const index = missing.findIndex((expected) => isSame(entry, expected))
    assert.ok(index >= 0, `unexpected entry ${JSON.stringify(entry)}; expected: ${JSON.stringify(missing)}`)
    missing.splice(index, 1)
  }
  assert.deepEqual(missing, [], "a confirmed change is not in the entries")
}

/** All calls of a month fit into the highest budget that they were admitted under. */
const checkBudgets = (entries: ReadonlyArray<Entry>) => {
  const months = Map.groupBy(
    entries.filter(({ type }) => type === "charge"),
    ({ key_id, occurred_at }) => `${key_id} in ${occurred_at.slice(0, 7)}`
  )
  for (const [month, charges] of months) {
    const spent = -sum(charges.map(({ credits }) => credits))
    const budget = Math.max(...charges.map(({ budget_credits }) => budget_credits ?? 0))
    assert.ok(spent <= budget, `${month}: ${spent} credits were spent of a budget of ${budget}`)
  }
}

const checkNumbers = (entriesOfAccounts: ReadonlyArray<ReadonlyArray<Entry>>, haveNoGaps: boolean) => {
  for (const entries of entriesOfAccounts) {
    for (const [index, { sequence }] of entries.entries()) {
      assert.ok(index === 0 || sequence > (entries[index - 1]?.sequence ?? 0), `entry ${sequence} is out of order`)
    }
  }
  const flat = entriesOfAccounts.flat()
  const sequences = flat.map(({ sequence }) => sequence)
  assert.equal(new Set(sequences).size, sequences.length, "two entries have the same number")
  if (haveNoGaps) assert.equal(Math.max(0, ...sequences), sequences.length, "a number is missing")
  const named = flat.flatMap(({ request_id, type }) => (request_id === null ? [] : [`${type} ${request_id}`]))
  assert.equal(new Set(named).size, named.length, "a request id was charged twice, or a reference booked twice")
}

/** Runs a read of an operator; reads work while writes fail. */
const read = async <A>(
  world: World,
  server: number,
  operation: (administration: Administration["Service"]) => Effect.Effect<A, AdministrationError>
): Promise<A> => Result.getOrThrow(await world.operate(server, operation))

const checkKey = async (world: World, server: number, key: KeyModel, secret: string) => {
  const { model } = world
  const view = await world.lookUp(server, key, secret)
  if (!isKnown(key, secret, model.now)) {
    assert.equal(view, undefined, "a revoked or expired secret is known")
    return
  }
  assert.ok(view !== undefined, "a valid key is unknown")
  assert.equal(view.isSuspended, key.account.suspendedAt !== null)
  assert.equal(view.id, key.id)
  assert.equal(view.account_id, key.account.id)
  assert.equal(view.revision, key.revision)
  assert.deepEqual([...view.scopes].sort(), [...key.scopes].sort())
  const remaining = world.server(server).remaining(view, model.now)
  assert.ok(remaining >= 0)
  if (model.traits.hasExactRemaining) assert.equal(remaining, model.remaining(key, server), "remaining() is wrong")
}

/** Compares the accounts that this server lists with the model. */
const checkAccounts = async (world: World, server: number) => {
  const { model } = world
  const accounts = await read(world, server, ({ listAccounts }) => listAccounts({}))
  assert.deepEqual(
    accounts.toSorted(byId),
    model.accounts
      .map((account) => ({
        id: account.id,
        name: account.name,
        created_at: account.created_at,
        suspended_at: account.suspendedAt,
        balance_credits: model.balance(account)
      }))
      .toSorted(byId)
  )
}

const checkKeysOf = async (world: World, server: number, account: AccountModel) => {
  const { model } = world
  const keys = await read(world, server, ({ listKeys }) => listKeys({ account_id: account.id }))
  const summaries = keys.map((key) => ({
    id: key.id,
    created_at: key.created_at,
    scopes: key.scopes,
    budget: Math.round(key.budget_usd * 1_000),
    spent: Math.round(key.spent_usd * 1_000),
    expires_at: key.expires_at,
    revokedAt: key.revoked_at
  }))
  const known = model.keys
    .filter((key) => key.account === account)
    .map((key) => ({
      id: key.id,
      created_at: key.created_at,
      scopes: key.scopes,
      budget: key.budget,
      spent: model.spent(key),
      expires_at: textOfExpiry(key.expiresAt),
      revokedAt: key.revokedAt
    }))
  assert.deepEqual(summaries.toSorted(byId), known.toSorted(byId))
}

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1)

const checkCounters = (world: World) => {
  for (const [server, counts] of world.counts.entries()) {
    const { charges, ...refused } = world.server(server).counters
    assert.deepEqual(
      {
        charges,
        insufficient_balance: refused.refused_insufficient_balance,
        monthly_spend_cap_reached: refused.refused_monthly_spend_cap_reached
      },
      counts
    )
  }
}

export const checkEverything = async (world: World, previous: PreviousEntries): Promise<void> => {
  const { model, subject } = world
  if (model.isDown && model.traits.outage === "of everything") return // checked when the outage has ended
  for (const hold of world.refusedCharges.splice(0)) {
    assert.notEqual(model.decideCharge(hold), "charged", "a call was refused after its read, although it fits")
  }
  const entriesOfAccounts = await Promise.all(
    model.accounts.map(async (account) => {
      const entries = await subject.entriesOf(account.id)
      checkChain(account, entries)
      checkNew(account, entries, previous.get(account.id) ?? [])
      checkBudgets(entries)
      assert.equal(entries.at(-1)?.balance, model.balance(account))
      previous.set(account.id, entries)
      return entries
    })
  )
  checkNumbers(entriesOfAccounts, model.traits.hasGaplessNumbers)
  const servers = [...subject.servers().keys()]
  const listing = world.serverAt(world.steps) // each server in turn
  await Promise.all([
    checkAccounts(world, listing),
    ...model.accounts.map((account) => checkKeysOf(world, listing, account)),
    ...servers.flatMap((server) =>
      model.keys.flatMap((key) =>
        [key.secret, ...(key.former === null ? [] : [key.former.secret])].map((secret) =>
          checkKey(world, server, key, secret)
        )
      )
    )
  ])
  checkCounters(world)
}
