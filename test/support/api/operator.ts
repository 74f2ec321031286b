/**
 * What an operator does, through the running server and without starting a program for each step: the very layer that
 * `larder-serve accounts|keys|ledger` runs on. The command line itself has its own tests.
 */

import { type Scope, scopes } from "@larder/schemas"
import { layerAdministration } from "@larder/serve/cli"
import { Administration, type AdministrationError, type Entry, type NewKey } from "@larder/serve/ledger"
import { ConfigProvider, Effect, Stream } from "effect"

/** Ledgers in PostgreSQL, by the home of their server. */
const urls = new Map<string, string>()
export const operateIn = (home: string, ledgerUrl: string): void => {
  urls.set(home, ledgerUrl)
}
const settingsOf = (home: string) => {
  const url = urls.get(home)
  return ConfigProvider.layer(ConfigProvider.fromUnknown(url === undefined ? {} : { LARDER_LEDGER_URL: url }))
}

export const operate = <A>(
  home: string,
  ask: (ledger: Administration["Service"]) => Effect.Effect<A, AdministrationError>
): Promise<A> =>
  Effect.runPromise(
    Administration.use(ask).pipe(Effect.provide(layerAdministration(home)), Effect.provide(settingsOf(home)))
  )

export interface KeySettings {
  /** An account that exists; by default a new one. */
  readonly account?: string
  readonly scopes?: ReadonlyArray<Scope>
  readonly budget?: number
  readonly daily_budget?: number | null
  readonly weekly_budget?: number | null
}

/** Accounts that the test file has made, whose charges `served` checks when the file ends. */
export const accountsOfFile = new Set<string>()

/** A key of a new account with its 5,000 credits. The budget is in credits and by default beyond them. */
export const createKey = async (
  home: string,
  { account, budget = 100_000, daily_budget = null, weekly_budget = null, ...settings }: KeySettings = {}
): Promise<NewKey> => {
  const created = await operate(home, (ledger) =>
    Effect.gen(function* () {
      const account_id = account ?? (yield* ledger.createAccount({ name: "Contract" })).id
      const [first, ...rest] = settings.scopes ?? scopes
      if (first === undefined) return yield* Effect.die("a key needs a scope")
      return yield* ledger.createKey({
        account_id,
        name: "contract",
        scopes: [first, ...rest],
        budget_credits: budget,
        daily_budget_credits: daily_budget,
        weekly_budget_credits: weekly_budget
      })
    })
  )
  accountsOfFile.add(created.account_id)
  return created
}

/** The entries of an account, oldest first. */
export const statement = (home: string, account: string): Promise<ReadonlyArray<Entry>> =>
  operate(home, (ledger) => Stream.runCollect(ledger.entriesOf(account)))

export const accountsIn = async (home: string): Promise<ReadonlyArray<string>> =>
  (await operate(home, (ledger) => ledger.listAccounts({}))).map(({ id }) => id)

/** The entries of several accounts. */
export const statements = (home: string, accounts: Iterable<string>): Promise<ReadonlyArray<Entry>> =>
  operate(home, (ledger) => Stream.runCollect(Stream.flatMap(Stream.fromIterable(accounts), ledger.entriesOf)))
