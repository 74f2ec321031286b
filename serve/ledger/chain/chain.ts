/**
 * The hash chain of an account: each entry contains a SHA-256 over the previous hash and its own fields, so a changed,
 * missing or inserted entry is detected. PostgreSQL computes the same hash in SQL (`sql-expressions.ts`). A chain may
 * begin at a stored head (`chain_start`) instead of the first entry.
 *
 * The hashed string has the fields in a fixed order, one per line, and no field has a line break. A verification checks
 * that no field is empty, because an empty field is hashed like null. `sequence` is not hashed: it may change when the
 * ledger moves to another store.
 */
import { hash } from "node:crypto"
import type { Entry } from "./records.ts"

/** The head of an account before its first entry. */
export const emptyHead = { position: 0, balance: 0, hash: "" }

/** The end of an account's chain. */
export interface ChainHead {
  readonly position: number
  readonly balance: number
  readonly hash: string
}

export const hashEntry = (previous: string, entry: Omit<Entry, "sequence" | "hash">): string =>
  hash(
    "sha256",
    `${previous}\n${entry.account_id}\n${entry.position}\n${entry.type}\n${entry.occurred_at}\n${entry.key_id ?? ""}\n${entry.endpoint ?? ""}\n${entry.credits}\n${entry.balance}\n${entry.budget_credits ?? ""}\n${entry.request_id ?? ""}\n${entry.note ?? ""}`,
    "hex"
  )

/** An entry without position, balance and hash, which are added when its group is written. */
export type Draft = Omit<Entry, "sequence" | "position" | "balance" | "hash">

/** The heads that new entries are chained to. */
interface ChainEnds {
  readonly sequence: number
  readonly accounts: ReadonlyMap<string, { readonly head: ChainHead }>
}

/** Chains the entries of a group to the durable heads, in write order. A group that fails leaves no gap. */
export const chainEntries = (durable: ChainEnds, drafts: ReadonlyArray<Draft>): ReadonlyArray<Entry> => {
  const heads = new Map<string, ChainHead>()
  let { sequence } = durable
  return drafts.map((draft) => {
    const { account_id } = draft
    const head = heads.get(account_id) ?? durable.accounts.get(account_id)?.head ?? emptyHead
    const placed = { ...draft, position: head.position + 1, balance: head.balance + draft.credits }
    const entry = { ...placed, sequence: ++sequence, hash: hashEntry(head.hash, placed) }
    heads.set(account_id, entry)
    return entry
  })
}

/** Why the entry does not follow the head, or undefined if it does. */
export const findBreak = (head: ChainHead, entry: Entry): string | undefined => {
  const place = `entry ${entry.position} of account ${entry.account_id}`
  if (entry.position !== head.position + 1) return `${place} follows its entry ${head.position}, so entries are missing`
  if (entry.balance !== head.balance + entry.credits) {
    return `${place} has a balance of ${entry.balance} credits, but the entries up to it add up to ${head.balance + entry.credits}`
  }
  if (entry.hash !== hashEntry(head.hash, entry)) return `${place} is not what was written: its hash does not match`
  return undefined
}
