/** Books credits that an operator adds or takes back, and the log line about it. `rules/adjustments.ts` has the rule. */
import { Effect, Option, type Result, Stream } from "effect"
import { logChange } from "../persistence/index.ts"
import type { AdministeredStore, Operation } from "./administered-store.ts"
import type { AdministrationError } from "./administration.ts"
import type { Entry } from "./chain/records.ts"
import { type Adjustment, adjustAccount, earliestRepeated, referenceId } from "./rules/adjustments.ts"
import { type Decision, nothingToWrite } from "./rules/decisions.ts"
import { timestampOf } from "./utc-calendar.ts"

const entriesPerPage = 1_000
/** PostgreSQL's code for a second entry with the same reference. */
const uniqueViolation = "23505"
/** After a lost connection, the entry that a repetition finds may be its own: that is neither repeated nor reported as booked before. */
const isBookedMeanwhile = (error: AdministrationError) =>
  error._tag === "LedgerUnavailable" &&
  error.cause instanceof Error &&
  "code" in error.cause &&
  error.cause.code === uniqueViolation

export const makeAdjust = (
  store: AdministeredStore,
  write: (decision: Result.Result<Decision, AdministrationError>) => Operation<Decision>
) => {
  /** Newest first. */
  const adjustmentsOf = (account_id: string) =>
    Stream.paginate<number | null, Entry, AdministrationError, never>(null, (before) =>
      Effect.map(store.entriesBefore({ account_id, before, limit: entriesPerPage, types: ["adjustment"] }), (page) => [
        page,
        Option.fromUndefinedOr(page.length < entriesPerPage ? undefined : page.at(-1)?.position)
      ])
    )

  /** The entry with this id, which may belong to another account. */
  const findAdjustment = Effect.fnUntraced(function* (request_id: string) {
    const account_id = yield* store.accountOfBooking("adjustment", request_id)
    if (account_id === undefined) return undefined
    const entries = Stream.filter(adjustmentsOf(account_id), (entry) => entry.request_id === request_id)
    return Option.getOrUndefined(yield* Stream.runHead(entries))
  })

  const listAdjustmentsSince = (account_id: string, earliest: string) =>
    adjustmentsOf(account_id).pipe(
      Stream.takeWhile(({ occurred_at }) => occurred_at > earliest),
      Stream.runCollect
    )

  return Effect.fn("Administration.adjust")(function* (event: string, adjustment: Adjustment) {
    const { account_id, again, credits, note, reference } = adjustment
    const request_id = referenceId(adjustment)
    const change = store.change([account_id], (now) =>
      Effect.gen(function* () {
        const account = yield* store.account(account_id)
        const booked = request_id === null ? undefined : yield* findAdjustment(request_id)
        const earliest = timestampOf(earliestRepeated(now))
        const recent = again || request_id !== null ? [] : yield* listAdjustmentsSince(account_id, earliest)
        const decision = yield* write(adjustAccount(account, adjustment, { booked, recent }, now))
        const booked_at = booked?.occurred_at ?? timestampOf(now)
        return { ...(yield* store.account(account_id)), booked: decision !== nothingToWrite, booked_at }
      })
    )
    // a repeated attempt with a reference finds what another account has booked at the same time
    const repeatable = request_id === null ? change : Effect.retry(change, { times: 1, while: isBookedMeanwhile })
    return yield* logChange(repeatable, event, ({ balance_credits, booked }) => {
      if (!booked) return undefined
      const before = { balance_credits: balance_credits - credits } // calls are charged at the same time
      return { account: account_id, credits, note, reference, before, after: { balance_credits } }
    })
  })
}
