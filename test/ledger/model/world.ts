/** A ledger under test, its model, and the keys and holds that the steps use. */
import assert from "node:assert/strict"
import type { Administration, AdministrationError, AdmittedCall, LedgerAccess } from "@larder/serve/ledger"
import type { Booking } from "@larder/serve/ledger/administration.ts"
import { Effect } from "effect"
import type { Chance } from "../../crash/chance.ts"
import type { OpenLedgers } from "./ledgers.ts"
import type { Key, Model, OpenHold } from "./model.ts"
import { Overlaps, type Span } from "./overlaps.ts"
import { isKnown, type Terms } from "./rules.ts"

/** Terms of a key, from the beginning of the change to them until the end of the next change. */
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
  /** With several servers, a released hold becomes visible to the others with the next group of its server. */
  readonly isShared: boolean
  /** Whether `remaining` always counts all holds. */
  readonly hasExactRemaining: boolean
  /** Every account that was opened. */
  readonly accounts: Array<string> = []
  private readonly keys = new Map<string, Array<UsedKey>>()
  /** Holds that stay open after their batch. */
  open: Array<UsedHold> = []
  /** The latest charged request ids. */
  charged: Array<string> = []
  bookings: Array<Booking> = []
  readonly tally = new Map<string, number>()
  steps = 0
  private names = 0

  constructor(ledgers: OpenLedgers, model: Model, chance: Chance) {
    this.ledgers = ledgers
    this.model = model
    this.chance = chance
    this.isShared = ledgers.servers().length > 1
    this.hasExactRemaining = ledgers.hasExactRemaining
  }

  /** Counts a step and its outcome. */
  note(event: string): void {
    this.steps++
    this.count(event)
  }

  count(event: string): void {
    this.tally.set(event, (this.tally.get(event) ?? 0) + 1)
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

  operate<A>(
    server: number,
    operation: (administration: Administration["Service"]) => Effect.Effect<A, AdministrationError>
  ): Promise<A> {
    return Effect.runPromise(operation(this.server(server).administration))
  }

  /** The accounts that are called: the newest ones. */
  calledAccounts(): ReadonlyArray<string> {
    return this.accounts.slice(-maxCalled)
  }

  keysOf(account: string): ReadonlyArray<UsedKey> {
    return this.keys.get(account) ?? []
  }

  calledKeys(): ReadonlyArray<UsedKey> {
    return this.calledAccounts().flatMap((account) => this.keysOf(account))
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

const maxCalled = 4
