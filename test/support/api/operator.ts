/**
 * Administration through the running server, without starting a program for each step: the layer that
 * `larder-serve accounts|keys|ledger` uses. The command line has separate tests.
 */

import { type Scope, scopes } from "@larder/schemas"
import { layerAdministration } from "@larder/serve/cli/control/reach.ts"
import { Administration, type AdministrationError, type Entry, type NewKey } from "@larder/serve/ledger"
import { ConfigProvider, Effect, Stream } from "effect"

/** URLs of ledgers in PostgreSQL, by the home of their server. */
const urls = new Map<string, string>()
export const setLedgerUrl = (home: string, ledgerUrl: string): void => {
  urls.set(home, ledgerUrl)
}
const makeSettings = (home: string) => {
  const url = urls.get(home)
  return ConfigProvider.layer(ConfigProvider.fromUnknown(url === undefined ? {} : { LARDER_LEDGER_URL: url }))
}

export const administer = <A>(
  home: string,
  work: (ledger: Administration["Service"]) => Effect.Effect<A, AdministrationError>
): Promise<A> =>
  Effect.runPromise(
    Administration.use(work).pipe(Effect.provide(layerAdministration(home)), Effect.provide(makeSettings(home)))
  )

export interface KeySettings {
  /** An existing account; by default a new one. */
  readonly account?: string
  readonly scopes?: ReadonlyArray<Scope>
  readonly budget?: number
}

/** Accounts that the test file has created, whose charges `useSharedServer` compares when the file ends. */
export const createdAccounts = new Set<string>()

/** Creates a key, by default of a new account with 5,000 credits. The budget is in credits; the default is above 5,000. */
export const createKey = async (
  home: string,
  { account, budget = 100_000, ...settings }: KeySettings = {}
): Promise<NewKey> => {
  const created = await administer(home, (ledger) =>
    Effect.gen(function* () {
      const account_id = account ?? (yield* ledger.createAccount({ name: "Contract" })).id
      const [first, ...rest] = settings.scopes ?? scopes
      if (first === undefined) return yield* Effect.die("a key needs a scope")
      return yield* ledger.createKey({
        account_id,
        name: "contract",
        scopes: [first, ...rest],
        budget_credits: budget
      })
    })
  )
  createdAccounts.add(created.account_id)
  return created
}

/** Entries of an account, oldest first. */
export const listEntries = (home: string, account: string): Promise<ReadonlyArray<Entry>> =>
  administer(home, (ledger) => Stream.runCollect(ledger.entriesOf(account)))

export const listAccountIds = async (home: string): Promise<ReadonlyArray<string>> =>
  (await administer(home, (ledger) => ledger.listAccounts({}))).map(({ id }) => id)

/** Entries of several accounts. */
export const listEntriesOf = (home: string, accounts: Iterable<string>): Promise<ReadonlyArray<Entry>> =>
  administer(home, (ledger) => Stream.runCollect(Stream.flatMap(Stream.fromIterable(accounts), ledger.entriesOf)))
