/** Opens an account with its starting credits. */
import { timestampOf } from "../utc-calendar.ts"
import { type Decision, makeDraft } from "./decisions.ts"

/** 5.00 USD. No card is needed. */
const startingCredits = 5_000

export const openAccount = (id: string, name: string, now: number): Decision => ({
  accounts: [{ id, name, created_at: timestampOf(now) }],
  keys: [],
  entries: [makeDraft({ account_id: id, type: "grant", credits: startingCredits, note: "starting balance" }, now)]
})
