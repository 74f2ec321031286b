/** What an operator changes: accounts, keys and credits. */
import assert from "node:assert/strict"
import { scopes as allScopes, type Scope } from "@larder/schemas"
import fc from "fast-check"
import { type Terms, textOfExpiry, timeOf } from "./model.ts"
import { pick, step } from "./steps.ts"
import type { World } from "./world.ts"

/** Selects an element of a list of any length; see `pick`. */
export const choice = fc.nat(1_000)
/** Small budgets are used up in a few calls; the balance of 5,000 is used up before the large ones. */
export const budget = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 10, 100, 150, 1_000, 5_000, 100_000) },
  { weight: 2, arbitrary: fc.nat(3_000) },
  { weight: 2, arbitrary: fc.constant(100_000) }
)
export const scopes: fc.Arbitrary<ReadonlyArray<Scope>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(allScopes) },
  { weight: 1, arbitrary: fc.subarray([...allScopes], { minLength: 1 }) }
)

/** A list with the type of a list that is not empty. */
export const oneOrMore = <A>([first, ...rest]: ReadonlyArray<A>): [A, ...Array<A>] => {
  if (first === undefined) throw new Error("an empty list")
  return [first, ...rest]
}

/** Half days from now until a key expires; null if it does not. */
export const expiry = fc.option(fc.integer({ min: 1, max: 80 }), { freq: 2 })
export const expiryFrom = (now: number, halfDays: number | null): number | null =>
  halfDays === null ? null : now + halfDays * (day / 2)
const day = 86_400_000

export const openAccount = async (world: World, server: number): Promise<void> => {
  const { model } = world
  const name = `account ${model.accounts.length}`
  const opened = await world.change(server, ({ createAccount }) => createAccount({ name }))
  if (opened === undefined) return
  const account = { id: opened.id, name, created_at: timeOf(model.now), suspendedAt: null, expected: [] }
  model.accounts.push(account)
  model.book(account, "grant", 5_000, "starting balance")
  world.note("account opened")
}

export const createKey = async (
  world: World,
  server: number,
  settings: {
    readonly account: number
    readonly scopes: ReadonlyArray<Scope>
    readonly budget: number
    readonly expiry: number | null
  }
): Promise<void> => {
  const { model } = world
  const account = pick(model.accounts, settings.account)
  const expiresAt = expiryFrom(model.now, settings.expiry)
  const input = {
    account_id: account.id,
    name: "k",
    scopes: oneOrMore(settings.scopes),
    budget_credits: settings.budget,
    expires_at: textOfExpiry(expiresAt)
  }
  const created = await world.change(server, (administration) => administration.createKey(input))
  if (created === undefined) return
  const { budget, scopes } = settings
  const created_at = timeOf(model.now)
  model.keys.push({
    id: created.id,
    secret: created.key,
    former: null,
    account,
    created_at,
    scopes,
    budget,
    expiresAt,
    revokedAt: null,
    revision: 1
  })
  world.note("key created")
}

export const maxAccounts = 3
export const maxKeys = 12

const openAnAccount = step("open account", fc.record({ server: choice }), {
  isPossible: (model) => model.accounts.length < maxAccounts,
  run: (world, { server }) => openAccount(world, world.serverAt(server))
})

const createAKey = step("create key", fc.record({ server: choice, account: choice, scopes, budget, expiry }), {
  isPossible: (model) => model.validKeys().length < 4 && model.keys.length < maxKeys,
  run: (world, { server, ...settings }) => createKey(world, world.serverAt(server), settings)
})

const credit = step(
  "credit",
  fc.record({ server: choice, account: choice, credits: fc.integer({ min: 1, max: 2_000 }) }),
  {
    run: async (world, { account, credits, server }) => {
      const { model } = world
      const credited = pick(model.accounts, account)
      const changed = await world.change(world.serverAt(server), ({ creditAccount }) =>
        creditAccount({ account_id: credited.id, credits, note: "a gift" })
      )
      if (changed === undefined) return
      model.book(credited, "adjustment", credits, "a gift")
      world.note("credited")
    }
  }
)

/** The input of an edit that makes these changes. */
export const editInput = ({ budget, expiresAt, scopes }: Partial<Terms>) => ({
  ...(budget === undefined ? {} : { budget_credits: budget }),
  ...(scopes === undefined ? {} : { scopes: oneOrMore(scopes) }),
  ...(expiresAt === undefined ? {} : { expires_at: textOfExpiry(expiresAt) })
})

const edit = step(
  "edit key",
  fc.record({
    server: choice,
    key: choice,
    changes: fc.oneof(fc.record({ budget }), fc.record({ scopes }), fc.record({ expiry }))
  }),
  {
    isPossible: (model) => model.notRevoked().length > 0,
    run: async (world, { changes, key, server }) => {
      const { model } = world
      const edited = pick(model.notRevoked(), key)
      const terms = "expiry" in changes ? { expiresAt: expiryFrom(model.now, changes.expiry) } : changes
      const changed = await world.change(world.serverAt(server), ({ editKey }) =>
        editKey({ key_id: edited.id, ...editInput(terms) })
      )
      if (changed === undefined) return
      edited.revision++
      Object.assign(edited, terms)
      world.note(`${Object.keys(changes).join()} edited`)
    }
  }
)

/** Hours for which the replaced secret stays valid. */
export const overlapHours = fc.constantFrom(0, 1, 36)
export const formerAt = (now: number, secret: string, hours: number) =>
  hours === 0 ? null : { secret, until: now + hours * (day / 24) }

const rotate = step("rotate key", fc.record({ server: choice, key: choice, hours: overlapHours }), {
  isPossible: (model) => model.validKeys().length > 0,
  run: async (world, { hours, key, server }) => {
    const { model } = world
    const rotated = pick(model.validKeys(), key)
    const created = await world.change(world.serverAt(server), ({ rotateKey }) =>
      rotateKey({ key_id: rotated.id, overlap_hours: hours })
    )
    if (created === undefined) return
    rotated.former = formerAt(model.now, rotated.secret, hours)
    rotated.secret = created.key
    rotated.revision++
    world.note("rotated")
  }
})

const revoke = step("revoke key", fc.record({ server: choice, key: choice }), {
  isPossible: (model) => model.validKeys().length > 1,
  run: async (world, { key, server }) => {
    const { model } = world
    const revoked = pick(model.validKeys(), key)
    const changed = await world.change(world.serverAt(server), ({ revokeKey }) => revokeKey({ key_id: revoked.id }))
    if (changed === undefined) return
    revoked.revokedAt = timeOf(model.now)
    revoked.revision++
    world.note("revoked")
  }
})

/** Twice in a row, because the second time changes nothing. */
const suspend = step("suspend account or resume it", fc.record({ server: choice, account: choice }), {
  run: async (world, { account, server }) => {
    const { model } = world
    const chosen = pick(model.accounts, account)
    const input = { account_id: chosen.id, note: "by a step" }
    const isSuspended = chosen.suspendedAt !== null
    for (const _ of [1, 2]) {
      const changed = await world.change(world.serverAt(server), ({ resumeAccount, suspendAccount }) =>
        isSuspended ? resumeAccount(input) : suspendAccount(input)
      )
      if (changed === undefined) return
      chosen.suspendedAt = isSuspended ? null : (chosen.suspendedAt ?? timeOf(model.now))
      assert.equal(changed.suspended_at, chosen.suspendedAt)
    }
    world.note(isSuspended ? "account resumed" : "account suspended")
  }
})

const changeRevoked = step("change a revoked key", fc.record({ server: choice, key: choice }), {
  isPossible: (model) => !model.isDown && model.keys.some(({ revokedAt }) => revokedAt !== null),
  run: async (world, { key, server }) => {
    const revoked = pick(
      world.model.keys.filter(({ revokedAt }) => revokedAt !== null),
      key
    )
    const index = world.serverAt(server)
    const repeated = await world.change(index, ({ revokeKey }) => revokeKey({ key_id: revoked.id }))
    assert.equal(repeated?.revoked_at, revoked.revokedAt)
    const edited = await world.operate(index, ({ editKey }) => editKey({ key_id: revoked.id, budget_credits: 1_000 }))
    assert.ok(edited._tag === "Failure" && edited.failure._tag === "KeyRevoked")
  }
})

export const operatorSteps = [
  { weight: 2, arbitrary: openAnAccount },
  { weight: 3, arbitrary: createAKey },
  { weight: 3, arbitrary: credit },
  { weight: 6, arbitrary: edit },
  { weight: 2, arbitrary: rotate },
  { weight: 1, arbitrary: revoke },
  { weight: 1, arbitrary: changeRevoked },
  { weight: 2, arbitrary: suspend }
]
