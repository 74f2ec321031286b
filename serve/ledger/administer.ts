/**
 * The operations of `administration.ts`, the same for every store: what they check, decide and return. A store
 * reads data, and makes decisions durable while nothing else changes the account.
 */
import { isScope } from "@larder/schemas"
import { Clock, Effect, Result, Schema, Stream, Struct } from "effect"
import { logChange } from "../persistence/index.ts"
import { makeAdjust } from "./adjust.ts"
import type { AdministeredStore, Operation } from "./administered-store.ts"
import { Administration, type AdministrationError, Booking, type Input, type KeySummary } from "./administration.ts"
import { fingerprint, last4, newApiKey } from "./api-key.ts"
import type { Account, ApiKey } from "./chain/records.ts"
import { usdOf } from "./money.ts"
import { randomId } from "./random-string.ts"
import { bookOnce, type Decision, editKey, issueKey, nothingToWrite, revokeKey, rotateKey } from "./rules/decisions.ts"
import { openAccount, resumeAccount, suspendAccount } from "./rules/open-account.ts"

/** No secret stays valid after its key expires. Timestamps have one format, so their strings sort by time. */
const pickEarlier = (formerEnd: string | null, keyEnd: string | null) =>
  formerEnd !== null && keyEnd !== null && keyEnd < formerEnd ? keyEnd : formerEnd

/** `spent`: credits in the current month. */
export const summarizeKey = (key: ApiKey, spent: number): KeySummary => {
  const { budget_credits, ...rest } = key
  const { former_sha256: _, revision: __, sha256: ___, ...record } = rest
  return {
    ...record,
    scopes: key.scopes.filter(isScope),
    former_expires_at: pickEarlier(key.former_expires_at, key.expires_at),
    budget_usd: usdOf(budget_credits),
    spent_usd: usdOf(spent)
  }
}

/** What the log says about a key: never its fingerprints. */
const loggedSettings = [
  "name",
  "scopes",
  "budget_credits",
  "expires_at",
  "last4",
  "former_last4",
  "former_expires_at",
  "revoked_at"
] as const

/** `before` is undefined for a new key. */
const describeKeyChange = (before: ApiKey | undefined, after: ApiKey) => {
  const changed = loggedSettings.filter(
    (name) => JSON.stringify(before?.[name] ?? null) !== JSON.stringify(after[name])
  )
  return {
    account: after.account_id,
    key_id: after.id,
    before: before === undefined ? null : Struct.pick(before, changed),
    after: Struct.pick(after, changed)
  }
}

const decodeBooking = Schema.decodeEffect(Booking)

const makeSecret = Effect.sync(() => {
  const key = newApiKey()
  return { key, stored: { sha256: fingerprint(key), last4: last4(key) } }
})

export const administer = (store: AdministeredStore): Administration["Service"] => {
  const write = (decision: Result.Result<Decision, AdministrationError>) =>
    Effect.tap(Effect.fromResult(decision), (decided) =>
      decided === nothingToWrite ? Effect.void : store.write(decided)
    )

  /** Creates or changes a key. `before` is undefined for a new one. */
  const writeKey = (
    event: string,
    { account_id, id }: Pick<ApiKey, "id" | "account_id">,
    decide: (now: number) => Operation<{
      readonly before: ApiKey | undefined
      readonly decision: Result.Result<Decision, AdministrationError>
    }>
  ) => {
    const change = store.change([account_id], (now) =>
      Effect.gen(function* () {
        const { before, decision } = yield* decide(now)
        const [after] = (yield* write(decision)).keys
        return { before, after, summary: yield* store.key(id, now) }
      })
    )
    const logged = logChange(change, event, ({ after, before }) => after && describeKeyChange(before, after))
    return Effect.map(logged, ({ summary }) => summary)
  }

  const changeKey = (
    event: string,
    id: string,
    decide: (key: ApiKey, now: number) => Result.Result<Decision, AdministrationError>
  ) =>
    Effect.flatMap(store.accountOfKey(id), (account_id) =>
      writeKey(event, { account_id, id }, (now) =>
        Effect.map(store.keyRecord(id), (before) => ({ before, decision: decide(before, now) }))
      )
    )

  const adjust = makeAdjust(store, write)

  const changeAccount = (
    event: string,
    { account_id, note }: Input<"suspendAccount">,
    decide: (account: Account, now: number) => Decision
  ) => {
    const change = store.change([account_id], (now) =>
      Effect.gen(function* () {
        const { balance_credits: _, ...before } = yield* store.account(account_id)
        const decision = yield* write(Result.succeed(decide(before, now)))
        return { before, isChanged: decision !== nothingToWrite, summary: yield* store.account(account_id) }
      })
    )
    const logged = logChange(change, event, ({ before, isChanged, summary: { suspended_at } }) =>
      isChanged
        ? { account: account_id, note, before: { suspended_at: before.suspended_at }, after: { suspended_at } }
        : undefined
    )
    return Effect.map(logged, ({ summary }) => summary)
  }

  return Administration.of({
    createAccount: Effect.fn("Administration.createAccount")(function* ({ name }) {
      const id = yield* randomId("acct_")
      const creation = store.change([], (now) =>
        Effect.andThen(write(Result.succeed(openAccount(id, name, now))), store.account(id))
      )
      return yield* logChange(creation, "account created", ({ balance_credits }) => {
        return { account: id, before: null, after: { name, balance_credits } }
      })
    }),
    listAccounts: () => store.accounts,
    account: ({ account_id }) => store.account(account_id),
    suspendAccount: Effect.fn("Administration.suspendAccount")((suspension) =>
      changeAccount("account suspended", suspension, suspendAccount)
    ),
    resumeAccount: Effect.fn("Administration.resumeAccount")((suspension) =>
      changeAccount("account resumed", suspension, resumeAccount)
    ),
    creditAccount: (credit) => adjust("account credited", { reference: null, again: true, ...credit }),
    debitAccount: ({ credits, ...debit }) =>
      adjust("account debited", { reference: null, again: true, ...debit, credits: -credits }),
    book: Effect.fn("Administration.book")(function* (input) {
      const booking = yield* Effect.orDie(decodeBooking(input)) // callers in this process have checked it
      const { account_id, reference, type } = booking
      return yield* store.change([account_id], (now) =>
        Effect.gen(function* () {
          const account = yield* store.account(account_id)
          const bookedAccount = yield* store.accountOfBooking(type, reference)
          const decision = yield* write(bookOnce(account, booking, bookedAccount, now))
          const { balance_credits } = yield* store.account(account_id)
          return { booked: decision !== nothingToWrite, balance_credits }
        })
      )
    }),
    createKey: Effect.fn("Administration.createKey")(function* ({ account_id, ...settings }) {
      const id = yield* randomId("key_")
      const { key, stored } = yield* makeSecret
      const created = yield* writeKey("key created", { account_id, id }, (now) =>
        Effect.gen(function* () {
          yield* store.account(account_id)
          const unrevokedKeys = yield* store.countUnrevokedKeys(account_id)
          const decision = issueKey({ ...settings, id, account_id, ...stored }, unrevokedKeys, now)
          return { before: undefined, decision }
        })
      )
      return { key, ...created }
    }),
    listKeys: Effect.fn("Administration.listKeys")(function* ({ account_id }) {
      yield* store.account(account_id)
      return yield* store.keys(account_id, yield* Clock.currentTimeMillis)
    }),
    editKey: Effect.fn("Administration.editKey")(({ key_id, ...changes }) =>
      changeKey("key changed", key_id, (key, now) => editKey(key, changes, now))
    ),
    rotateKey: Effect.fn("Administration.rotateKey")(function* ({ key_id, overlap_hours }) {
      const { key, stored } = yield* makeSecret
      return {
        key,
        ...(yield* changeKey("key replaced", key_id, (former, now) => rotateKey(former, stored, overlap_hours, now)))
      }
    }),
    revokeKey: Effect.fn("Administration.revokeKey")(({ key_id }) =>
      changeKey("key revoked", key_id, (key, now) => Result.succeed(revokeKey(key, now)))
    ),
    usage: Effect.fn("Administration.usage")(function* (query) {
      yield* store.account(query.account_id)
      return yield* store.usage(query)
    }),
    summedUsage: Effect.fn("Administration.summedUsage")(function* (query) {
      yield* store.account(query.account_id)
      return yield* store.summedUsage(query)
    }),
    entriesBefore: Effect.fn("Administration.entriesBefore")(function* (page) {
      yield* store.account(page.account_id)
      return yield* store.entriesBefore(page)
    }),
    entriesOf: (accountId) => Stream.unwrap(Effect.as(store.account(accountId), store.entriesOf(accountId))),
    verify: () => store.verify,
    backup: ({ file }) => store.backup(file)
  })
}
