/** While nothing is in flight the ledger must say what the model says, to the credit. */
import assert from "node:assert/strict"
import { type Entry, sumUsage } from "@larder/serve/ledger"
import type { Expected, Grant } from "./model.ts"
import { credit } from "./operators.ts"
import { dayOf, isKnown, noBudget, timeOf, windows } from "./rules.ts"
import type { UsedKey, World } from "./world.ts"

/** A look-up goes into the same group as what was released before it, or into a later one. */
export const settled = (world: World) =>
  Promise.all(world.ledgers.servers().map((ledger) => ledger.authenticate("svc_data_nobody", world.model.now)))

const usd = (credits: number) => credits / 1_000

const compareBalances = async (world: World, server: number) => {
  const told = await world.ask(server, ({ listAccounts }) => listAccounts({}))
  const balances = new Map(told.map(({ balance_credits, id }) => [id, balance_credits]))
  assert.deepEqual(balances, world.model.balances)
  for (const { expiring, id } of told) {
    const left = (world.model.grants.get(id) ?? []).filter((grant) => grant.left > 0)
    const expected = left.map(({ endsAt, left: credits }) => ({ credits, expires_at: timeOf(endsAt) }))
    assert.deepEqual(expiring, expected)
  }
}

const compareKeys = async (world: World, server: number, account: string) => {
  const { model } = world
  const told = await world.ask(server, ({ listKeys }) => listKeys({ account_id: account }))
  const known = world.keysOf(account)
  /** Of each kind of budget that the key has: its credits, and what is spent of them. */
  const budgetsOf = (key: UsedKey) =>
    windows.map(({ budget, of }) => {
      const credits = key.terms.budgets[budget]
      return credits === noBudget
        ? [null, null]
        : [usd(credits), usd(model.spent.get(`${key.id} ${of(model.now)}`) ?? 0)]
    })
  assert.deepEqual(
    new Map(
      told.map((key) => {
        const { daily_budget_usd, spent_this_week_usd, spent_today_usd, weekly_budget_usd } = key
        const budgets = [
          [daily_budget_usd, spent_today_usd],
          [weekly_budget_usd, spent_this_week_usd],
          [key.budget_usd, key.spent_usd]
        ]
        return [key.id, [key.scopes, budgets, key.revoked_at !== null, key.expires_at]]
      })
    ),
    new Map(
      known.map((key) => {
        const { isRevoked, scopes, until } = key.terms
        const end = until === Number.POSITIVE_INFINITY ? null : timeOf(until)
        return [key.id, [scopes, budgetsOf(key), isRevoked, end]]
      })
    )
  )
}

/** Each server, asked as at the next request. */
const compareRemaining = async (world: World, key: UsedKey) => {
  const { model } = world
  for (const { secret } of key.terms.secrets) {
    for (const ledger of world.ledgers.servers()) {
      const find = async () => {
        const view = await ledger.authenticate(secret, model.now)
        return view !== undefined && (await ledger.isCurrent(view, model.now)) ? view : undefined
      }
      const view = (await find()) ?? (await find()) // the first may be what it remembered
      assert.equal(view !== undefined, isKnown(key.terms, secret, model.now), `whether key ${key.id} is known`)
      if (view !== undefined) assert.equal(ledger.remaining(view, model.now), model.remaining(key), "remaining")
    }
  }
}

const compareAllRemaining = (world: World) =>
  Promise.all(world.keysOfCalled().map((key) => compareRemaining(world, key)))

/** Whether the entry is the expected one, with a budget that may have been in force. */
const isSame = (entry: Entry, expected: Expected) =>
  entry.type === expected.type &&
  entry.occurred_at === expected.occurred_at &&
  entry.key_id === expected.key_id &&
  entry.endpoint === expected.endpoint &&
  entry.credits === expected.credits &&
  entry.request_id === expected.request_id &&
  entry.note === expected.note &&
  expected.budgets.includes(entry.budget_credits) &&
  entry.expires_at === expected.expires_at &&
  (entry.type === "charge" || entry.grants === expected.grants)

/** Position and credits of each part, as in `3:-20 12:-5`. */
const partsOf = (text: string | null) =>
  (text ?? "").split(" ").flatMap((part) => {
    const [position, credits] = part.split(":").map(Number)
    return position === undefined || credits === undefined ? [] : [{ position, credits }]
  })

/**
 * Takes up what a charge took of credits that expire: of some that had not ended, no more than was left, and all in all no
 * more than its price. Answers the earlier ones that had nothing for it.
 */
const takeGrants = ({ credits, grants, occurred_at }: Entry, all: ReadonlyArray<Grant>): ReadonlyArray<Grant> => {
  const alive = all.filter(({ endsAt }) => endsAt > Date.parse(occurred_at))
  let rest = -credits
  let last = -1
  for (const part of partsOf(grants)) {
    const at = alive.findIndex(({ position }) => position === part.position)
    const grant = alive[at]
    assert.ok(grant !== undefined && at > last && part.credits < 0, `a charge takes ${grants}`)
    grant.left += part.credits
    rest += part.credits
    assert.ok(grant.left >= 0 && rest >= 0, `a charge of ${-credits} credits takes ${grants}`)
    last = at
  }
  return alive.slice(0, rest > 0 ? undefined : last)
}

const nameOf = ({ note, request_id, type }: Pick<Entry, "type" | "request_id" | "note">) =>
  `${type} ${request_id ?? note}`

const mostOfPage = 1_000

/** Entries since the last comparison are those that the model has made, each once, and their balances are sums. */
const compareEntries = async (world: World, server: number, account: string) => {
  const { model } = world
  const expected = model.expected.get(account) ?? []
  const missing = new Map(expected.map((one) => [nameOf(one), one]))
  assert.equal(missing.size, expected.length)
  const [newer, balance] = [[] as Array<Entry>, model.balances.get(account)]
  while (newer.length <= expected.length) {
    const before = newer.at(-1)?.position ?? null
    const limit = Math.min(mostOfPage, expected.length + 1 - newer.length)
    const page = await world.ask(server, ({ entriesBefore }) => entriesBefore({ account_id: account, before, limit }))
    if (page.length === 0) break
    newer.push(...page)
  }
  const [added, last] = [newer.slice(0, expected.length), newer[expected.length]]
  const passedOver = new Set<Grant>()
  let sum = last?.balance ?? 0
  for (const entry of added.toReversed()) {
    const name = nameOf(entry)
    const one = missing.get(name)
    assert.ok(one !== undefined && isSame(entry, one), `${JSON.stringify(entry)} instead of ${JSON.stringify(one)}`)
    missing.delete(name)
    sum += entry.credits
    assert.equal(entry.balance, sum, `the balance of ${name}`)
    const { credits, expires_at, position, type } = entry
    if (expires_at !== null) model.grant(account, { position, endsAt: Date.parse(expires_at), left: credits })
    if (type !== "charge") continue
    const earlier = takeGrants(entry, model.grants.get(account) ?? [])
    if (entry.grants !== null) world.count("taken of credits that expire")
    if (world.shrinks && one.admittedIn === world.batch) for (const grant of earlier) passedOver.add(grant)
  }
  // nothing was given back, so what was passed over was held or spent by others
  const open = world.open
    .filter(({ key }) => key.account === account)
    .reduce((held, { call }) => held + call.credits, 0)
  for (const { left, position } of passedOver) {
    assert.ok(left <= open, `calls passed over entry ${position}, of which ${left} credits are left`)
  }
  assert.deepEqual([...missing.keys()], [], "what was confirmed is not in the ledger")
  assert.equal(newer[0]?.balance, balance)
  model.expected.delete(account)
}

const compareUsage = async (world: World, server: number, account: string, from: string, to: string) => {
  const days = [...(world.model.usage.get(account)?.values() ?? [])].filter(({ day }) => from <= day && day <= to)
  const asked = { account_id: account, from, to }
  const nameOf = (row: (typeof days)[number]) => `${row.day} ${row.key_id} ${row.endpoint}`
  const byName = (rows: ReadonlyArray<(typeof days)[number]>) => new Map(rows.map((row) => [nameOf(row), row]))
  const told = await world.ask(server, ({ usage }) => usage(asked))
  assert.deepEqual(byName(told), byName(days))
  assert.deepEqual(await world.ask(server, ({ summedUsage }) => summedUsage(asked)), sumUsage(days))
}

export const compare = async (world: World): Promise<void> => {
  const { chance, isShared, model, overlaps } = world
  await settled(world)
  assert.deepEqual(overlaps.judge().slice(0, 3), [])
  for (const key of world.keysOfCalled()) key.versions = key.versions.slice(-1)
  const server = chance.between(0, 1)
  await world.ask(server, ({ listAccounts }) => listAccounts({})) // what has expired is taken out then
  await Promise.all([...model.expected.keys()].map((account) => compareEntries(world, server, account)))
  await Promise.all([
    compareBalances(world, server),
    ...world.called().map((account) => compareKeys(world, server, account))
  ])
  if (!isShared) await compareAllRemaining(world)
  world.count("compared")
}

const day = 86_400_000

/**
 * What takes longer. Two servers set credits of an account aside for their next calls, which the other one counts as held; a
 * change by an operator takes those back first.
 */
export const compareMore = async (world: World): Promise<void> => {
  const { chance, isShared, model, overlaps } = world
  if (isShared) for (const account of world.called()) await credit(world, 0, account, 10)()
  await settled(world)
  assert.deepEqual(overlaps.judge(), [])
  if (isShared) await compareAllRemaining(world)
  for (const account of world.called()) {
    const from = dayOf(model.now - chance.between(0, 70) * day)
    const to = dayOf(model.now + chance.between(-40, 10) * day)
    await compareUsage(world, chance.between(0, 1), account, from, to)
  }
  world.count("compared with remaining and usage")
}

/** The whole ledger, at the end. */
export const compareAll = async (world: World): Promise<void> => {
  const { accounts, model } = world
  await compare(world)
  await compareMore(world)
  await compare(world)
  for (const account of accounts) await compareUsage(world, 0, account, "2020-01-01", "2099-12-31")
  const found = await world.ask(0, ({ verify }) => verify({}))
  assert.deepEqual(found, {
    accounts: accounts.length,
    keys: model.keys.length,
    entries: model.entries,
    balance_credits: [...model.balances.values()].reduce((sum, balance) => sum + balance, 0),
    problems: []
  })
}
