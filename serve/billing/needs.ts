/** What payments need from the server. */
import type { Administration } from "../ledger/index.ts"
import type { ConsoleDatabase } from "../persistence/index.ts"
import type { CardProcessor } from "./processor.ts"

export interface BillingNeeds {
  readonly database: ConsoleDatabase["Service"]
  readonly administration: Administration["Service"]
  readonly processor: CardProcessor
  /** Requests an evaluation of auto-recharge, after a charged call or an unsuccessful recharge. */
  readonly requestEvaluation: (account_id: string) => void
}
