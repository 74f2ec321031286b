/** While nothing is in flight, the ledger must agree exactly with the model. */
import assert from "node:assert/strict"
import type { Entry } from "@larder/serve/ledger"
import { sumUsage } from "@larder/serve/ledger/summed-usage.ts"
import type { Expected } from "./model.ts"
import { credit } from "./operators.ts"
import { dayOf, isKnown, monthOf, timeOf } from "./rules.ts"
import type { UsedKey, World } from "./world.ts"

/** Waits for released holds: a lookup is in the same group as the releases before it, or in a later one. */
export const settle = (world: World) =>
  Promise.all(world.ledgers.servers().map((ledger) => ledger.authenticate("svc_data_nobody", world.model.now)))

const usd = (credits: number) => credits / 1_000

const compareBalances = async (world: World, server: number) => {
  const rows = await world.operate(server, ({ listAccounts }) => listAccounts({}))
  const balances = new Map(rows.map(({ balance_credits, id }) => [id, balance_credits]))
  assert.deepEqual(balances, world.model.balances)
}

const compareKeys = async (world: World, server: number, account: string) => {
  const { model } = world
  const rows = await world.operate(server, ({ listKeys }) => listKeys({ account_id: account }))
  const known = world.keysOf(account)
  assert.deepEqual(
    new Map(
      rows.map((key) => [key.id, [key.scopes, key.budget_usd, key.spent_usd, key.revoked_at !== null, key.expires_at]])
    ),
    new Map(
      known.map(({ id, terms: { budget, isRevoked, scopes, until } }) => {
        const end = until === Number.POSITIVE_INFINITY ? null : timeOf(until)
        return [id, [scopes, usd(budget), usd(model.spent.get(`${id} ${monthOf(model.now)}`) ?? 0), isRevoked, end]]
      })
    )
  )
}

/** Each server must return what the next request would get. */
const compareRemaining = async (world: World, key: UsedKey) => {
  const { model } = world
  for (const { secret } of key.terms.secrets) {
    for (const ledger of world.ledgers.servers()) {
      const find = async () => {
        const view = await ledger.authenticate(secret, model.now)
        return view !== undefined && (await ledger.isCurrent(view, model.now)) ? view : undefined
      }
      const view = (await find()) ?? (await find()) // the first lookup may return what the server remembered
      assert.equal(view !== undefined, isKnown(key.terms, secret, model.now), `whether key ${key.id} is known`)
      if (view !== undefined) assert.equal(ledger.remaining(view, model.now), model.remaining(key), "remaining")
    }
  }
}

const compareAllRemaining = (world: World) => Promise.all(world.calledKeys().map((key) => compareRemaining(world, key)))

/** Whether the entry is the expected one, with any budget that may have been in force. */
const isSame = (entry: Entry, expected: Expected) =>
  entry.type === expected.type &&
  entry.occurred_at === expected.occurred_at &&
  entry.key_id === expected.key_id &&
  entry.endpoint === expected.endpoint &&
  entry.credits === expected.credits &&
  entry.request_id === expected.request_id &&
  entry.note === expected.note &&
  expected.budgets.includes(entry.budget_credits)

const nameOf = ({ note, request_id, type }: Pick<Entry, "type" | "request_id" | "note">) =>
  `${type} ${request_id ?? note}`

const maxPageSize = 1_000

/** The entries since the last comparison must be those of the model, each once, with correct balances. */
const compareEntries = async (world: World, server: number, account: string) => {
  const { model } = world
  const expected = model.expected.get(account) ?? []
  const missing = new Map(expected.map((entry) => [nameOf(entry), entry]))
  assert.equal(missing.size, expected.length)
  const [newer, balance] = [[] as Array<Entry>, model.balances.get(account)]
  while (newer.length <= expected.length) {
    const before = newer.at(-1)?.position ?? null
    const limit = Math.min(maxPageSize, expected.length + 1 - newer.length)
    const page = await world.operate(server, ({ entriesBefore }) =>
      entriesBefore({ account_id: account, before, limit })
    )
    if (page.length === 0) break
    newer.push(...page)
  }
  const [added, last] = [newer.slice(0, expected.length), newer[expected.length]]
  let sum = last?.balance ?? 0
  for (const entry of added.toReversed()) {
    const name = nameOf(entry)
    const match = missing.get(name)
    assert.ok(
      match !== undefined && isSame(entry, match),
      `${JSON.stringify(entry)} instead of ${JSON.stringify(match)}`
    )
    missing.delete(name)
    sum += entry.credits
    assert.equal(entry.balance, sum, `the balance of ${name}`)
  }
  assert.deepEqual([...missing.keys()], [], "a confirmed change is not in the ledger")
  assert.equal(newer[0]?.balance, balance)
  model.expected.delete(account)
}

const compareUsage = async (world: World, server: number, account: string, from: string, to: string) => {
  const days = [...(world.model.usage.get(account)?.values() ?? [])].filter(({ day }) => from <= day && day <= to)
  const query = { account_id: account, from, to }
  const nameOf = (row: (typeof days)[number]) => `${row.day} ${row.key_id} ${row.endpoint}`
  const byName = (list: ReadonlyArray<(typeof days)[number]>) => new Map(list.map((row) => [nameOf(row), row]))
  const rows = await world.operate(server, ({ usage }) => usage(query))
  assert.deepEqual(byName(rows), byName(days))
  assert.deepEqual(await world.operate(server, ({ summedUsage }) => summedUsage(query)), sumUsage(days))
}

export const compare = async (world: World): Promise<void> => {
  const { chance, isShared, model, overlaps } = world
  await settle(world)
  assert.deepEqual(overlaps.findProblems().slice(0, 3), [])
  for (const key of world.calledKeys()) key.versions = key.versions.slice(-1)
  const server = chance.between(0, 1)
  await Promise.all([...model.expected.keys()].map((account) => compareEntries(world, server, account)))
  await Promise.all([
    compareBalances(world, server),
    ...world.calledAccounts().map((account) => compareKeys(world, server, account))
  ])
  if (!isShared) await compareAllRemaining(world)
  world.count("compared")
}

const day = 86_400_000

/**
 * Comparisons that take longer. If servers share the ledger, a change by an operator comes first, so that all read it.
 */
export const compareMore = async (world: World): Promise<void> => {
  const { chance, isShared, model, overlaps } = world
  if (isShared) for (const account of world.calledAccounts()) await credit(world, 0, account, 10)()
  await settle(world)
  assert.deepEqual(overlaps.findProblems(), [])
  if (isShared) await compareAllRemaining(world)
  for (const account of world.calledAccounts()) {
    const from = dayOf(model.now - chance.between(0, 70) * day)
    const to = dayOf(model.now + chance.between(-40, 10) * day)
    await compareUsage(world, chance.between(0, 1), account, from, to)
  }
  world.count("compared with remaining and usage")
}

/** Compares the whole ledger, at the end. */
export const compareAll = async (world: World): Promise<void> => {
  const { accounts, model } = world
  await compare(world)
  await compareMore(world)
  await compare(world)
  for (const account of accounts) await compareUsage(world, 0, account, "2020-01-01", "2099-12-31")
  const verification = await world.operate(0, ({ verify }) => verify({}))
  assert.deepEqual(verification, {
    accounts: accounts.length,
    keys: model.keys.length,
    entries: model.entries,
    balance_credits: [...model.balances.values()].reduce((sum, balance) => sum + balance, 0),
    problems: []
  })
}
