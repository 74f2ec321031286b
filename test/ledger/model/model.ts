/**
 * A plain ledger: numbers in maps, changed one after the other, without groups, stores, servers or overlapping calls. The
 * model of the histories sums lists on demand, which would be too slow for a million steps.
 */
import type { Entry, UsageOfDay } from "@larder/serve/ledger"
import { type Call, dayOf, monthOf, type Refusal, type Terms, timeOf } from "./rules.ts"

export interface Key {
  readonly id: string
  readonly account: string
  terms: Terms
}

export interface OpenHold {
  readonly key: Key
  readonly call: Call
  readonly at: number
  /** Budgets that may have been in force when the call was admitted. */
  readonly budgets: ReadonlyArray<number>
}

/** An entry that must be written, without its position, balance and hash. */
export interface Expected {
  readonly type: Entry["type"]
  readonly occurred_at: string
  readonly key_id: string | null
  readonly endpoint: string | null
  readonly credits: number
  readonly request_id: string | null
  readonly note: string | null
  readonly budgets: ReadonlyArray<number | null>
}

/** The rest of a limit that a call must fit into. */
export interface Limit {
  readonly name: string
  readonly left: number
  readonly refusal: Refusal
}

const add = (sums: Map<string, number>, name: string, credits: number) =>
  sums.set(name, (sums.get(name) ?? 0) + credits)

export class Model {
  now = Date.parse("2026-10-15T12:00:00.000Z")
  readonly balances = new Map<string, number>()
  readonly keys: Array<Key> = []
  /** By account, and by key and month: see `limits`. */
  readonly held = new Map<string, number>()
  /** By key and month. */
  readonly spent = new Map<string, number>()
  /** By account, then by day, key and endpoint. */
  readonly usage = new Map<string, Map<string, UsageOfDay>>()
  /** By account: entries since the last comparison. */
  readonly expected = new Map<string, Array<Expected>>()
  entries = 0

  /** In the order in which they refuse a call. */
  limits(key: Key, at = this.now): ReadonlyArray<Limit> {
    const left = (this.balances.get(key.account) ?? 0) - (this.held.get(key.account) ?? 0)
    const name = `${key.id} ${monthOf(at)}`
    const used = (this.spent.get(name) ?? 0) + (this.held.get(name) ?? 0)
    return [
      { name: key.account, left, refusal: "insufficient_balance" },
      { name, left: key.terms.budget - used, refusal: "monthly_spend_cap_reached" }
    ]
  }

  remaining(key: Key): number {
    return Math.max(0, Math.min(...this.limits(key).map(({ left }) => left)))
  }

  hold({ at, call, key }: OpenHold): void {
    for (const { name } of this.limits(key, at)) add(this.held, name, call.credits)
  }

  release({ at, call, key }: OpenHold): void {
    for (const { name } of this.limits(key, at)) add(this.held, name, -call.credits)
  }

  charge(hold: OpenHold, requestId: string): void {
    const { at, budgets, call, key } = hold
    const { credits, endpoint } = call
    this.release(hold)
    add(this.spent, `${key.id} ${monthOf(at)}`, credits)
    const [day, key_id] = [dayOf(at), key.id]
    const days = this.usage.get(key.account) ?? new Map<string, UsageOfDay>()
    const name = `${day} ${key_id} ${endpoint}`
    const before = days.get(name) ?? { day, key_id, endpoint, calls: 0, credits: 0 }
    this.usage.set(key.account, days)
    days.set(name, { ...before, calls: before.calls + 1, credits: before.credits + credits })
    const charge = { type: "charge", key_id, endpoint, request_id: requestId, note: null, budgets } as const
    this.write(key.account, { ...charge, occurred_at: timeOf(at), credits: -credits })
  }

  book(account: string, type: Entry["type"], credits: number, note: string, request_id: string | null = null): void {
    const nothing = { key_id: null, endpoint: null, budgets: [null] }
    this.write(account, { ...nothing, type, occurred_at: timeOf(this.now), credits, request_id, note })
  }

  private write(account: string, entry: Expected): void {
    add(this.balances, account, entry.credits)
    const others = this.expected.get(account)
    if (others === undefined) this.expected.set(account, [entry])
    else others.push(entry)
    this.entries++
  }
}
