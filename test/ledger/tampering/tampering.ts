import type { Store } from "./sound-ledgers.ts"

/**
 * What somebody does to the tables, and everything that a verification says then. The sample ledger has 62 entries. Entry
 * 4 of `acct_a` is number 6, a charge of `key_a` on 30 October; entry 34 of `acct_a` is its first one in November.
 */
export interface Tampering {
  readonly what: string
  /** Statements for both stores, or for each. */
  readonly change: string | Readonly<Record<Store, string>>
  /** Found in both stores. */
  readonly found?: ReadonlyArray<string>
  /** Found in one store only. A store without its own list and without `found` does not have or does not allow the change. */
  readonly folder?: ReadonlyArray<string>
  readonly postgres?: ReadonlyArray<string>
}

export const firstOfA = "where account_id = 'acct_a' and position = 1"
export const fourthOfA = "where account_id = 'acct_a' and position = 4"

export const alteredEntry = (position: number, account = "acct_a") =>
  `entry ${position} of account ${account} is not what was written: its hash does not match`
export const foreignKey = (position: number, key: string, account = "acct_a") =>
  `entry ${position} of account ${account} names key ${key}, which is not a key of this account`
