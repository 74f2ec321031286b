/**
 * Credits that an operator adds or takes back by hand. A command whose answer was lost can be repeated: with a reference
 * it books once, and without one an equal movement of the last day is refused.
 */
import { Result, Runtime, Schema } from "effect"
import type { Entry } from "../chain/records.ts"
import { usdOf } from "../money.ts"
import {
  type AccountBalance,
  type BalanceOutOfBounds,
  creditAccount,
  type Decision,
  nothingToWrite
} from "./decisions.ts"

export interface Adjustment {
  readonly account_id: string
  /** Negative for a debit. */
  readonly credits: number
  readonly note: string
  readonly reference: string | null
  /** Books an equal movement again. */
  readonly again: boolean
}

const day = 24 * 60 * 60_000

/** Time from which on an equal movement counts as the same one. */
export const earliestRepeated = (now: number): number => now - day

/** A copied text may have a blank at its end, or letters in another composition. */
const normalise = (text: string) => text.trim().normalize("NFC")

const [creditPrefix, debitPrefix] = ["credit:", "debit:"]

/** Distinct from the ids of disputes. A debit may have the reference of the credit that it takes back. */
export const referenceId = ({ credits, reference }: Pick<Adjustment, "credits" | "reference">): string | null =>
  reference === null ? null : `${credits > 0 ? creditPrefix : debitPrefix}${normalise(reference)}`

/** Whether an operator has taken back credits; disputes have other ids. */
export const isDebit = ({ credits, request_id, type }: Entry): boolean =>
  type === "adjustment" && credits < 0 && (request_id?.startsWith(debitPrefix) ?? true)

const bookedFields = { account_id: Schema.String, credits: Schema.Int, occurred_at: Schema.String }

const describe = ({ account_id, credits }: Pick<Entry, "account_id" | "credits">) =>
  credits > 0
    ? `credit of ${usdOf(credits)} USD to account ${account_id}`
    : `debit of ${usdOf(-credits)} USD from account ${account_id}`

export class ReferenceUsed extends Schema.TaggedError<ReferenceUsed>()("ReferenceUsed", {
  reference: Schema.String,
  ...bookedFields
}) {
  override get message() {
    return `Reference ${JSON.stringify(this.reference)} was used at ${this.occurred_at} for a ${describe(this)}, and cannot book anything else. Nothing was booked.`
  }
}

export class AlreadyAdjusted extends Schema.TaggedError<AlreadyAdjusted>()("AlreadyAdjusted", bookedFields) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return `A ${describe(this)} with the same note was booked at ${this.occurred_at}. Nothing was booked. To book it again, add --again. With --reference TEXT, a command books once, however often it is repeated.`
  }
}

/** `booked` is the entry with this reference; `recent` are adjustments of the account, at least those of the last day. */
export const adjustAccount = (
  account: AccountBalance,
  adjustment: Adjustment,
  { booked, recent }: { readonly booked: Entry | undefined; readonly recent: ReadonlyArray<Entry> },
  now: number
): Result.Result<Decision, ReferenceUsed | AlreadyAdjusted | BalanceOutOfBounds> => {
  const { again, credits, note, reference } = adjustment
  if (booked !== undefined) {
    const { account_id, occurred_at } = booked
    return account_id === account.id && booked.credits === credits
      ? Result.succeed(nothingToWrite)
      : Result.fail(new ReferenceUsed({ reference: reference ?? "", account_id, credits: booked.credits, occurred_at }))
  }
  const isEqual = (entry: Entry) =>
    entry.credits === credits &&
    normalise(entry.note ?? "") === normalise(note) &&
    Date.parse(entry.occurred_at) > earliestRepeated(now)
  const equal = again || reference !== null ? undefined : recent.find(isEqual)
  if (equal !== undefined) {
    return Result.fail(new AlreadyAdjusted({ account_id: account.id, credits, occurred_at: equal.occurred_at }))
  }
  return creditAccount(account, { ...adjustment, request_id: referenceId(adjustment) }, now)
}
