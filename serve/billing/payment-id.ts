/** Ids of payments. Larder assigns them before it asks a processor for money. */
import { createHash } from "node:crypto"
import { randomText } from "../ledger/random-text.ts"

/** 119 random bits. */
export const newPaymentId = () => `pay_${randomText(20)}`

/** The same form sent twice by the same account gives the same id. 120 bits. */
export const paymentIdOf = (account_id: string, submission: string) =>
  `pay_${createHash("sha256").update(`${account_id}\n${submission}`).digest("hex").slice(0, 30)}`
