/**
 * What overlaps in a burst: calls, ends of holds, and changes by operators. Each is recorded with the span in which it took
 * effect, and afterwards it is checked whether all outcomes are possible in some order. Until then the model stays as it was
 * before the burst; it is updated at the end.
 */
import assert from "node:assert/strict"
import type { CaptureRefusal } from "@larder/serve/ledger"
import type { HoldRefusal } from "@larder/serve/ledger/rules/admission.ts"
import {
  type AccountModel,
  type CaptureOutcome,
  type HoldModel,
  isKnown,
  type KeyModel,
  monthOf,
  type Outcome,
  type Terms
} from "./model.ts"
import { type Limit, Overlaps, type Span } from "./overlaps.ts"
import type { World } from "./world.ts"

interface Version<A> extends Span {
  readonly value: A
}
const never = Number.POSITIVE_INFINITY
const isWithin = (span: Span) => (version: Span) => version.from <= span.to && version.to >= span.from

/** The values of something that operators change: the old one until its change has returned, the new one from its beginning. */
class Versions<Of, A> {
  private readonly versions = new Map<Of, Array<Version<A>>>()
  private readonly valueBefore: (of: Of) => A
  constructor(valueBefore: (of: Of) => A) {
    this.valueBefore = valueBefore
  }

  isChanged = (of: Of) => (this.versions.get(of)?.length ?? 0) > 1

  private list(of: Of): Array<Version<A>> {
    const known = this.versions.get(of) ?? [{ value: this.valueBefore(of), from: 0, to: never }]
    this.versions.set(of, known)
    return known
  }

  /** Returns a function that ends the old value. */
  begin(of: Of, value: A, from: number): (to: number) => void {
    const list = this.list(of)
    list.push({ value, from, to: never })
    return (to) => list.splice(-2, 1, ...list.slice(-2, -1).map((before) => ({ ...before, to })))
  }

  within(of: Of, span: Span): ReadonlyArray<A> {
    return this.list(of)
      .filter(isWithin(span))
      .map(({ value }) => value)
  }
}

export interface Sent {
  readonly key: KeyModel
  readonly secret: string
  readonly scope: HoldModel["scope"]
  readonly credits: number
}

export class Burst {
  readonly world: World
  readonly overlaps = new Overlaps()
  readonly terms = new Versions((key: KeyModel): Terms => ({ ...key }))
  readonly suspensions = new Versions(({ suspendedAt }: AccountModel) => suspendedAt !== null)
  /** Whether a hold alone decides: nobody else charges or changes the account between the hold and the charge. */
  readonly isDecidedOnce: boolean
  private readonly updates: Array<() => void> = []
  private readonly opened: Array<HoldModel> = []
  private readonly charges: Array<{ readonly hold: HoldModel; readonly id: string; readonly budgets: Set<number> }> = []

  constructor(world: World, hasChanges: boolean) {
    this.world = world
    const isAlone = world.subject.servers().length === 1 && !hasChanges
    this.isDecidedOnce = !world.model.traits.decidesAgain || isAlone
  }

  /** Updates the model when the burst is over. */
  afterwards(update: () => void): void {
    this.updates.push(update)
  }

  /** Without a server: what is stored. With one: what its calls leave of it. */
  private limit(name: string, server: number | undefined, left: () => number): Limit {
    const isNeverOverspent = this.world.model.traits.decidesAgain === (server === undefined)
    return {
      name: server === undefined ? name : `${name} beside the calls of server ${server}`,
      left,
      isNeverOverspent
    }
  }
  private balance(account: AccountModel, server?: number): Limit {
    const { model } = this.world
    return this.limit(`balance of ${account.id}`, server, () =>
      server === undefined ? model.balance(account) : model.available(account, server)
    )
  }
  private budget(key: KeyModel, at: number, server?: number): Limit {
    const { model } = this.world
    return this.limit(`budget of ${key.id} in ${monthOf(at)}`, server, () =>
      server === undefined ? key.budget - model.spent(key, at) : model.budgetLeft(key, server, at)
    )
  }
  /** In the order in which they refuse a call. */
  limits(key: KeyModel, at: number, server?: number): readonly [balance: Limit, budget: Limit] {
    return [this.balance(key.account, server), this.budget(key, at, server)]
  }

  private servers(): ReadonlyArray<number> {
    return [...this.world.subject.servers().keys()]
  }
  private withEachServer(): ReadonlyArray<number | undefined> {
    return [undefined, ...this.servers()]
  }

  span(from: number): Span {
    return { from, to: this.overlaps.moment() }
  }

  recordHold(hold: HoldModel, span: Span): void {
    this.opened.push(hold)
    this.overlaps.change(this.limits(hold.key, hold.admittedAt, hold.server), -hold.credits, span)
  }

  /** Nothing was charged. */
  recordRelease(hold: HoldModel, span: Span): void {
    this.overlaps.change(this.limits(hold.key, hold.admittedAt, hold.server), hold.credits, span)
  }

  recordAdmission(sent: Sent, server: number, outcome: Outcome | Unauthorised, span: Span): void {
    const { credits, key } = sent
    const { decidesAgain } = this.world.model.traits
    // an admission may follow what was read a moment ago, if the call is decided again
    if (outcome === "held" && !this.isDecidedOnce) return
    this.findTerms(sent, outcome === "held" ? "charged" : outcome, this.world.model.now, span)
    const [balance, budget] = this.limits(key, this.world.model.now, server)
    if (outcome === "held") this.overlaps.decide(outcome, credits, { fits: [balance, budget] }, span)
    if (outcome === "insufficient_balance")
      this.overlaps.decide(outcome, credits, { fits: [], refusedBy: balance }, span)
    if (outcome === "monthly_spend_cap_reached") {
      const fits = [decidesAgain ? this.balance(key.account) : balance] // what is stored may have refused by itself
      this.overlaps.decide(outcome, credits, { fits, refusedBy: budget }, span)
    }
  }

  recordCapture(hold: HoldModel, outcome: CaptureOutcome, id: string, span: Span): void {
    const { key, credits, admittedAt } = hold
    const { decidesAgain } = this.world.model.traits
    this.afterwards(() => this.world.settle(hold, outcome, id))
    if (decidesAgain) this.recordDecidedAgain(hold, outcome, span)
    if (outcome !== "charged") {
      assert.ok(decidesAgain, `the capture of ${id}: ${outcome}`)
      this.recordRelease(hold, span)
      return
    }
    const terms = decidesAgain ? this.findTerms(hold, "charged", admittedAt, span) : []
    const budgets = decidesAgain ? terms.map(({ budget }) => budget) : [hold.budget]
    this.charges.push({ hold, id, budgets: new Set(budgets) })
    const others = this.servers().filter((server) => server !== hold.server)
    const overdraft = decidesAgain ? 0 : never // a held call can be charged after a deduction
    for (const server of [undefined, ...others]) {
      this.overlaps.change(this.limits(key, admittedAt, server), -credits, span, overdraft)
    }
  }

  private recordDecidedAgain(hold: HoldModel, outcome: CaptureOutcome, span: Span): void {
    const { admittedAt, credits, key } = hold
    if (this.isDecidedOnce && this.opened.includes(hold)) {
      assert.equal(outcome, "charged", "a single server refused a call that it had admitted")
    }
    this.findTerms(hold, outcome, admittedAt, span)
    const [balance, budget] = this.limits(key, admittedAt)
    if (outcome === "charged") this.overlaps.decide("charge", credits, { fits: [balance, budget] }, span)
    if (outcome === "insufficient_balance")
      this.overlaps.decide(outcome, credits, { fits: [], refusedBy: balance }, span)
    if (outcome === "monthly_spend_cap_reached") {
      this.overlaps.decide(outcome, credits, { fits: [balance], refusedBy: budget }, span)
    }
  }

  /** The terms that explain an outcome of a call that was admitted at this time. */
  private findTerms(sent: Sent, outcome: CaptureOutcome, at: number, span: Span): ReadonlyArray<Terms> {
    const { key, scope, secret } = sent
    const terms = this.terms.within(key, span)
    const explaining = terms.filter((version) => {
      if (!isKnown(version, secret, at)) return outcome === "unknown_key"
      if (outcome === "unknown_key") return false
      return outcome === "account_suspended" || version.scopes.includes(scope) === (outcome !== "missing_scope")
    })
    const isSuspended = this.suspensions.within(key.account, span)
    const isPossible = outcome === "unknown_key" || isSuspended.includes(outcome === "account_suspended")
    assert.ok(
      isPossible && explaining.length > 0,
      `${outcome} for key ${key.id}, which has ${JSON.stringify(terms)}, suspended ${isSuspended}`
    )
    return explaining
  }

  /** Money in either direction. Reads of the balance in the same span are checked as well. */
  recordMovement(account: AccountModel, credits: number, span: Span, balances: ReadonlyArray<number>): void {
    const changed = this.withEachServer().map((server) => this.balance(account, server))
    this.overlaps.change(changed, credits, span, Math.max(0, -credits))
    this.readBalances(account, span, balances)
  }
  readBalances(account: AccountModel, span: Span, balances: ReadonlyArray<number>): void {
    for (const balance of balances) this.overlaps.addRead([this.balance(account)], balance, span)
  }

  recordBudget(key: KeyModel, added: number, span: Span): void {
    const { holds, now } = this.world.model
    const held = holds.filter((hold) => hold.key === key).map(({ admittedAt }) => admittedAt)
    const months = new Map([now, ...held].map((at) => [monthOf(at), at]))
    for (const at of months.values()) {
      const changed = this.withEachServer().map((server) => this.budget(key, at, server))
      this.overlaps.change(changed, added, span, Math.max(0, -added))
    }
  }

  /** Checks every outcome, and updates the model. */
  async end(): Promise<void> {
    const { model, subject } = this.world
    assert.deepEqual(this.overlaps.findProblems().slice(0, 3), [])
    model.holds.push(...this.opened)
    const accounts = new Set(this.charges.map(({ hold }) => hold.key.account))
    const entries = (await Promise.all([...accounts].map(({ id }) => subject.entriesOf(id)))).flat()
    const budgets = new Map(entries.map((entry) => [entry.request_id, entry.budget_credits]))
    for (const { budgets: possible, hold, id } of this.charges) {
      const budget = budgets.get(id)
      assert.ok(budget !== undefined && budget !== null, `the charge of ${id} is missing`)
      assert.ok(possible.has(budget), `the charge of ${id} has a budget of ${budget}, and not one of ${[...possible]}`)
      hold.chargedBudget = budget
    }
    for (const update of this.updates) update()
    this.world.refusedCharges = [] // they are checked above
  }
}

type Unauthorised = Exclude<CaptureRefusal, HoldRefusal>
