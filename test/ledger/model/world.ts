/** A ledger under test beside its model, and the keys and holds that the steps use. */
import assert from "node:assert/strict"
import type { Administration, AdministrationError, AdmittedCall, Booking, LedgerAccess } from "@larder/serve/ledger"
import { Effect } from "effect"
import type { Chance } from "../../crash/chance.ts"
import type { OpenLedgers } from "./ledgers.ts"
import type { Key, Model, OpenHold } from "./model.ts"
import { Overlaps, type Span } from "./overlaps.ts"
import { isKnown, type Terms } from "./rules.ts"

/** Terms of a key, from the moment at which a change to them began until the end of the next change. */
interface Version extends Span {
  readonly terms: Terms
}

export interface UsedKey extends Key {
  versions: Array<Version>
}

export interface UsedHold extends OpenHold {
  readonly server: number
  readonly held: AdmittedCall
}

export class World {
  readonly model: Model
  readonly overlaps = new Overlaps()
  readonly chance: Chance
  readonly ledgers: OpenLedgers
  /** What one server gives back the others hear of with its next group. */
  readonly isShared: boolean
  /** Whether a server knows at any time what every call holds. */
  readonly knowsRemaining: boolean
  /** Every account that was opened, and the few that are called. */
  readonly accounts: Array<string> = []
  private readonly keys = new Map<string, Array<UsedKey>>()
  /** Holds that outlast the calls that overlap with them. */
  open: Array<UsedHold> = []
  /** Request ids that were charged last. */
  charged: Array<string> = []
  bookings: Array<Booking> = []
  readonly tally = new Map<string, number>()
  steps = 0
  /** Number of the batch that is under way, or was last. */
  batch = 0
  /** Whether nothing is given back in it. */
  shrinks = false
  private names = 0

  constructor(ledgers: OpenLedgers, model: Model, chance: Chance) {
    this.ledgers = ledgers
    this.model = model
    this.chance = chance
    this.isShared = ledgers.servers().length > 1
    this.knowsRemaining = ledgers.knowsRemaining
  }

  /** One more step, and what came of it. */
  note(what: string): void {
    this.steps++
    this.count(what)
  }

  count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1)
  }

  newName(prefix: string): string {
    return `${prefix}_${++this.names}`
  }

  server(index: number): LedgerAccess {
    const servers = this.ledgers.servers()
    const server = servers[index % servers.length]
    assert.ok(server !== undefined)
    return server
  }

  ask<A>(
    server: number,
    question: (administration: Administration["Service"]) => Effect.Effect<A, AdministrationError>
  ): Promise<A> {
    return Effect.runPromise(question(this.server(server).administration))
  }

  /** The accounts that are called: the newest. */
  called(): ReadonlyArray<string> {
    return this.accounts.slice(-mostCalled)
  }

  keysOf(account: string): ReadonlyArray<UsedKey> {
    return this.keys.get(account) ?? []
  }

  keysOfCalled(): ReadonlyArray<UsedKey> {
    return this.called().flatMap((account) => this.keysOf(account))
  }

  isKnown(key: UsedKey): boolean {
    return key.terms.secrets.some(({ secret }) => isKnown(key.terms, secret, this.model.now))
  }

  addKey(id: string, account: string, terms: Terms): void {
    const versions = [{ terms, from: this.overlaps.moment(), to: Number.POSITIVE_INFINITY }]
    const key = { id, account, terms, versions }
    this.keys.set(account, [...this.keysOf(account), key])
    this.model.keys.push(key)
  }

  /** Terms that a key may have had within a span. */
  termsWithin(key: UsedKey, { from, to }: Span): ReadonlyArray<Terms> {
    return key.versions.filter((version) => version.from <= to && version.to >= from).map(({ terms }) => terms)
  }

  balanceOf(account: string): { readonly name: string; readonly left: number } {
    return { name: `balance of ${account}`, left: this.model.balances.get(account) ?? 0 }
  }
}

const mostCalled = 4
