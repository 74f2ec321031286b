/**
 * Reports where calls are decided, for tools in the same process (`node:diagnostics_channel`). It costs nothing without
 * subscribers. Calls that are decided in the database are not reported.
 */
import { channel } from "node:diagnostics_channel"

export interface DecisionEvent {
  /** `leased`: a server has taken the lease of an account. Otherwise: what decided a call. */
  readonly what: "leased" | "lease" | "slice"
  readonly server_id: string
  readonly account_id: string
  /** Whether the server has a slice of the account; for `leased`, whether it had one when it took the lease. */
  readonly had_slice: boolean
}

export const decisionChannel = channel("larder:ledger.decision")
