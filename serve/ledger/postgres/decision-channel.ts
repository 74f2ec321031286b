/**
 * Where calls are decided, for tools in the same process (`node:diagnostics_channel`). It costs nothing where nobody listens.
 * Calls that are decided in the database are not named.
 */
import { channel } from "node:diagnostics_channel"

export interface DecisionEvent {
  /** `leased`: a server has taken the lease of an account. Else what a call was decided by. */
  readonly what: "leased" | "lease" | "slice"
  readonly server_id: string
  readonly account_id: string
  /** The server had a slice of the account when it took the lease. */
  readonly had_slice: boolean
}

export const decisionChannel = channel("larder:ledger.decision")
