/** Changes by operators and payments during calls. Each key is changed once per batch: the order of changes is unknown. */
import assert from "node:assert/strict"
import { scopes as allScopes, type Scope } from "@larder/schemas"
import type { Booking } from "@larder/serve/ledger/administration.ts"
import { monthOf, prices, startingCredits, stores, type Terms, timeOf } from "./rules.ts"
import type { UsedKey, World } from "./world.ts"

const day = 86_400_000
const never = Number.POSITIVE_INFINITY

export const pickOne = <A>(world: World, list: ReadonlyArray<A>): A => {
  const picked = list[world.chance.between(0, list.length - 1)]
  if (picked === undefined) throw new Error("the list is empty")
  return picked
}

export const openAccount = async (world: World, server: number): Promise<void> => {
  const name = world.newName("account")
  const { balance_credits, id } = await world.operate(server, ({ createAccount }) => createAccount({ name }))
  assert.equal(balance_credits, startingCredits)
  world.model.book(id, "grant", startingCredits, "starting balance")
  world.accounts.push(id)
  world.note("account opened")
}

/** Mostly a multiple of 10, like prices, so that calls can use the last credit. */
const drawAmount = ({ chance }: World, min: number, max: number) =>
  chance.between(0, 3) === 0 ? chance.between(min, max) : 10 * Math.ceil(chance.between(min, max) / 10)

/** Mostly enough for some more calls. A budget of 0, or below what was spent, pauses the key. */
const drawBudget = (world: World, key?: UsedKey): number => {
  const { chance, model } = world
  const spent = key === undefined ? 0 : (model.spent.get(`${key.id} ${monthOf(model.now)}`) ?? 0)
  return chance.between(0, 9) === 0 ? 0 : Math.max(0, spent + drawAmount(world, -300, 20_000))
}

const drawScopes = ({ chance }: World): readonly [Scope, ...Array<Scope>] => {
  const used = [[prices.scope], [stores.scope], [prices.scope, stores.scope], allScopes] as const
  const [first, ...rest] = used[Math.min(chance.between(0, 9), used.length - 1)] ?? allScopes
  return [first, ...rest]
}

const drawExpiry = ({ chance, model }: World) =>
  chance.between(0, 3) === 0 ? model.now + chance.between(1, 40) * (day / 2) : never
const expiryText = (until: number) => (until === never ? null : timeOf(until))

export const createKey = async (world: World, server: number, account: string): Promise<void> => {
  const [budget, scopes, until] = [drawBudget(world), drawScopes(world), drawExpiry(world)]
  const { id, key } = await world.operate(server, (administration) =>
    administration.createKey({
      account_id: account,
      name: "k",
      scopes: [...scopes],
      budget_credits: budget,
      expires_at: expiryText(until)
    })
  )
  world.addKey(id, account, { scopes, budget, secrets: [{ secret: key, until: never }], until, isRevoked: false })
  world.note("key created")
}

/** The old terms may be in force until the change has returned, the new ones from its beginning. */
const change = async (world: World, key: UsedKey, terms: Terms, makeChange: () => Promise<unknown>) => {
  const { model, overlaps } = world
  const from = overlaps.moment()
  const before = key.versions.at(-1)
  key.versions.push({ terms, from, to: never })
  await makeChange()
  const to = overlaps.moment()
  if (before !== undefined) key.versions.splice(-2, 1, { ...before, to })
  const [, ...limits] = model.limits(key)
  const added = terms.budget - key.terms.budget
  if (added !== 0) overlaps.change(limits, added, { from, to }, Math.max(0, -added))
  key.terms = terms
}

const hour = 3_600_000

/** No call uses the new secret before the change has returned. */
const rotate = (world: World, server: number, key: UsedKey) => async () => {
  const { model } = world
  const overlap_hours = pickOne(world, [0, 1, 36] as const)
  const last = key.terms.secrets.slice(-1).map(({ secret }) => ({ secret, until: model.now + overlap_hours * hour }))
  const former = overlap_hours === 0 ? [] : last
  const newSecrets: Array<string> = []
  await change(world, key, { ...key.terms, secrets: former }, async () => {
    newSecrets.push((await world.operate(server, ({ rotateKey }) => rotateKey({ key_id: key.id, overlap_hours }))).key)
  })
  key.terms = { ...key.terms, secrets: [...former, ...newSecrets.map((secret) => ({ secret, until: never }))] }
  key.versions = key.versions.map((version, at) =>
    at === key.versions.length - 1 ? { ...version, terms: key.terms } : version
  )
  world.note("rotated")
}

const edit = (world: World, server: number, key: UsedKey): (() => Promise<void>) => {
  const { terms } = key
  const key_id = key.id
  const setting = pickOne(world, ["budget", "budget", "budget", "scopes", "expiry", "secret"] as const)
  if (setting === "secret" && world.model.now < terms.until) return rotate(world, server, key) // otherwise it would be refused
  if (setting === "budget") {
    const budget = drawBudget(world, key)
    const makeChange = () => world.operate(server, ({ editKey }) => editKey({ key_id, budget_credits: budget }))
    return async () => {
      await change(world, key, { ...terms, budget }, makeChange)
      world.note("budget edited")
    }
  }
  if (setting === "scopes") {
    const scopes = drawScopes(world)
    const makeChange = () => world.operate(server, ({ editKey }) => editKey({ key_id, scopes: [...scopes] }))
    return async () => {
      await change(world, key, { ...terms, scopes }, makeChange)
      world.note("scopes edited")
    }
  }
  const until = drawExpiry(world)
  const makeChange = () => world.operate(server, ({ editKey }) => editKey({ key_id, expires_at: expiryText(until) }))
  return async () => {
    await change(world, key, { ...terms, until }, makeChange)
    world.note("expiry edited")
  }
}

const revoke = (world: World, server: number, key: UsedKey) => async () => {
  const makeChange = () => world.operate(server, ({ revokeKey }) => revokeKey({ key_id: key.id }))
  await change(world, key, { ...key.terms, isRevoked: true }, makeChange)
  world.note("revoked")
}

/** Records that a movement of money has changed the balance at some moment since `from`. Returns that span. */
const recordMovement = (world: World, account: string, credits: number, from: number) => {
  const { model, overlaps } = world
  const span = { from, to: overlaps.moment() }
  const left = (model.balances.get(account) ?? 0) - (model.held.get(account) ?? 0)
  overlaps.change([{ name: account, left }], credits, span, Math.max(0, -credits))
  overlaps.change([world.balanceOf(account)], credits, span, never)
  return span
}

export const credit = (world: World, server: number, account: string, credits: number) => async () => {
  const note = world.newName("gift")
  const from = world.overlaps.moment()
  const { balance_credits } = await world.operate(server, ({ creditAccount }) =>
    creditAccount({ account_id: account, credits, note })
  )
  const span = recordMovement(world, account, credits, from)
  world.overlaps.addRead([world.balanceOf(account)], balance_credits, span, -never)
  world.model.book(account, "adjustment", credits, note)
  world.note("credited")
}

/** Books once, although several servers request it concurrently. */
const book = (world: World, server: number, booking: Booking, times: number) => async () => {
  const { account_id, credits, note, reference, type } = booking
  const from = world.overlaps.moment()
  const results = await Promise.all(
    Array.from({ length: times }, (_, time) =>
      world.operate(server + time, (administration) => administration.book(booking))
    )
  )
  assert.equal(results.filter(({ booked }) => booked).length, 1, `${reference} was not booked exactly once`)
  const span = recordMovement(world, account_id, credits, from)
  for (const { balance_credits } of results) {
    world.overlaps.addRead([world.balanceOf(account_id)], balance_credits, span, -never)
  }
  world.model.book(account_id, type, credits, note, reference)
  world.bookings.push(booking)
  world.note(credits > 0 ? "money received" : "money returned")
}

const bookAgain = (world: World, server: number, booking: Booking) => async () => {
  const from = world.overlaps.moment()
  const { balance_credits, booked } = await world.operate(server, (administration) => administration.book(booking))
  assert.equal(booked, false, `${booking.reference} was booked twice`)
  const span = { from, to: world.overlaps.moment() }
  world.overlaps.addRead([world.balanceOf(booking.account_id)], balance_credits, span, -never)
  world.note("booked again")
}

const drawBooking = (world: World, account_id: string): Booking => {
  const reference = world.newName("pay")
  const note = `because of ${reference}`
  const isOutgoing = world.chance.between(0, 5) === 0
  const type = isOutgoing
    ? pickOne(world, ["refund", "adjustment"] as const)
    : pickOne(world, ["top_up", "auto_recharge", "refund", "adjustment"] as const)
  const credits = 10 * (isOutgoing ? -world.chance.between(1, 400) : world.chance.between(1, 1_200))
  return { account_id, type, credits, reference, note }
}

/** Draws an operation of a batch. `changed` contains the keys that are already changed in it. */
export const drawOperation = (world: World, changed: Set<UsedKey>): (() => Promise<void>) => {
  const { chance } = world
  const server = chance.between(0, 1)
  const account = pickOne(world, world.calledAccounts())
  const keys = world.calledKeys().filter((key) => !changed.has(key) && !key.terms.isRevoked)
  const number = chance.between(0, 99)
  if (number < 25) return credit(world, server, account, drawAmount(world, 1, 12_000))
  if (number < 50) return book(world, server, drawBooking(world, account), chance.between(1, 3))
  if (number < 55 && world.bookings.length > 0)
    return bookAgain(world, server, pickOne(world, world.bookings.slice(-50)))
  if (number >= 95) return () => createKey(world, server, account)
  if (keys.length === 0) return credit(world, server, account, 10)
  const key = pickOne(world, keys)
  changed.add(key)
  return number < 93 ? edit(world, server, key) : revoke(world, server, key)
}
