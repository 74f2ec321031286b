/** Opens an account with its starting credits, suspends it, and resumes it. */
import type { Account } from "../chain/records.ts"
import { timestampOf } from "../utc-calendar.ts"
import { type Decision, makeDraft, nothingToWrite } from "./decisions.ts"

/** 5.00 USD. No card is needed. */
const startingCredits = 5_000

export const openAccount = (id: string, name: string, now: number): Decision => ({
  accounts: [{ id, name, created_at: timestampOf(now), suspended_at: null }],
  keys: [],
  entries: [makeDraft({ account_id: id, type: "grant", credits: startingCredits, note: "starting balance" }, now)]
})

const writeAccount = (account: Account): Decision => ({ accounts: [account], keys: [], entries: [] })

/** Suspending twice changes nothing: the first timestamp stays. */
export const suspendAccount = (account: Account, now: number): Decision =>
  account.suspended_at === null ? writeAccount({ ...account, suspended_at: timestampOf(now) }) : nothingToWrite

export const resumeAccount = (account: Account): Decision =>
  account.suspended_at === null ? nothingToWrite : writeAccount({ ...account, suspended_at: null })
