/** Credits and debits by hand, in both stores: what can be repeated, and the line of the log about each. */
import { assert, describe, it } from "@effect/vitest"
import type { Input } from "@larder/serve/ledger/administration.ts"
import { Actor } from "@larder/serve/persistence"
import { Effect, Result } from "effect"
import { collectLog } from "../support/collect-log.ts"
import { makeKey, newLedgers, readEntries } from "./shared-ledger.ts"

describe.each(Object.entries(newLedgers))("a ledger in %s", (_, newLedger) => {
  const begin = Effect.gen(function* () {
    const ledger = yield* yield* newLedger
    const key = yield* makeKey(ledger)
    const credit: Input<"creditAccount"> = {
      account_id: key.account_id,
      credits: 100_000,
      note: "wire 4711",
      again: false
    }
    const listBooked = Effect.map(readEntries(ledger, key), (entries) =>
      entries.slice(1).map(({ credits, request_id, type }) => [type, credits, request_id])
    )
    return { ...ledger.administration, key, ledger, credit, listBooked }
  })

  it.live("books a credit once for its reference, even if it is requested 20 times concurrently", () =>
    Effect.gen(function* () {
      const { credit, creditAccount, listBooked, verify } = yield* begin
      const request = creditAccount({ ...credit, reference: "4711" })
      const results = yield* Effect.all(
        Array.from({ length: 20 }, () => request),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter(({ booked }) => booked).length, 1)
      assert.strictEqual(new Set(results.map(({ booked_at }) => booked_at)).size, 1)
      assert.isTrue(results.every(({ balance_credits }) => balance_credits === 105_000))
      assert.deepStrictEqual(yield* listBooked, [["adjustment", 100_000, "credit:4711"]])
      assert.deepStrictEqual((yield* verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses the reference of a credit for another amount, and for another account", () =>
    Effect.gen(function* () {
      const { createAccount, credit, creditAccount, key, listBooked } = yield* begin
      const other = yield* createAccount({ name: "B" })
      const referenced = { ...credit, reference: "4711" }
      const { booked_at } = yield* creditAccount(referenced)
      for (const change of [{ credits: 1 }, { account_id: other.id }]) {
        const refused = yield* Effect.flip(creditAccount({ ...referenced, ...change }))
        assert.strictEqual(refused._tag, "ReferenceUsed")
        assert.include(refused.message, `was used at ${booked_at} for a credit of 100 USD to account ${key.account_id}`)
      }
      assert.strictEqual((yield* listBooked).length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("books a reference for one of two accounts that get it at once, and refuses it for the other", () =>
    Effect.gen(function* () {
      const { createAccount, credit, creditAccount, verify } = yield* begin
      for (let round = 0; round < 10; round++) {
        const accounts = yield* Effect.all([createAccount({ name: "A" }), createAccount({ name: "B" })])
        const credits = accounts.map(({ id }) => creditAccount({ ...credit, account_id: id, reference: `R${round}` }))
        const results = yield* Effect.all(credits.map(Effect.result), { concurrency: 2 })
        const booked = results.filter(Result.isSuccess).map(({ success }) => success.booked)
        const refused = results.filter(Result.isFailure).map(({ failure }) => failure._tag)
        assert.deepStrictEqual([booked, refused], [[true], ["ReferenceUsed"]])
      }
      assert.deepStrictEqual((yield* verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "books one of two equal credits without a reference that arrive at once, and both if the second is meant",
    () =>
      Effect.gen(function* () {
        const { credit, creditAccount, listBooked } = yield* begin
        const results = yield* Effect.all([creditAccount(credit), creditAccount(credit)].map(Effect.result), {
          concurrency: 2
        })
        assert.strictEqual(results.filter(Result.isSuccess).length, 1)
        assert.strictEqual((yield* Effect.flip(creditAccount(credit)))._tag, "AlreadyAdjusted")
        yield* creditAccount({ ...credit, again: true })
        assert.deepStrictEqual(yield* listBooked, [
          ["adjustment", 100_000, null],
          ["adjustment", 100_000, null]
        ])
      }).pipe(Effect.scoped)
  )

  it.live("takes a credit back below 0 with the same reference, beside a dispute with the same id", () =>
    Effect.gen(function* () {
      const { book, credit, creditAccount, debitAccount, key, listBooked, verify } = yield* begin
      const reference = "du_1"
      yield* creditAccount({ ...credit, reference })
      const debit = { account_id: key.account_id, credits: 120_000, note: "wrong account", reference }
      assert.strictEqual((yield* debitAccount(debit)).balance_credits, -15_000)
      const repeated = yield* debitAccount(debit)
      assert.deepStrictEqual([repeated.booked, repeated.balance_credits], [false, -15_000])
      const dispute = {
        account_id: key.account_id,
        type: "adjustment",
        credits: -1,
        reference,
        note: "dispute"
      } as const
      assert.isTrue((yield* book(dispute)).booked)
      assert.deepStrictEqual(yield* listBooked, [
        ["adjustment", 100_000, "credit:du_1"],
        ["adjustment", -120_000, "debit:du_1"],
        ["adjustment", -1, "du_1"]
      ])
      assert.deepStrictEqual((yield* verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("logs each change of money, accounts and keys once, with who made it and the values before and after", () =>
    Effect.gen(function* () {
      const ledger = yield* begin
      const { createAccount, createKey, creditAccount, debitAccount, editKey, revokeKey, rotateKey } = ledger
      const changes = Effect.gen(function* () {
        const { id: account_id } = yield* createAccount({ name: "A" })
        const credit = { account_id, credits: 700, note: "sorry", reference: "R" }
        yield* creditAccount(credit)
        yield* creditAccount(credit)
        yield* debitAccount({ account_id, credits: 6_000, note: "wrong" })
        const { suspended_at } = yield* ledger.suspendAccount({ account_id, note: "unpaid" })
        yield* ledger.suspendAccount({ account_id, note: "still unpaid" })
        yield* ledger.resumeAccount({ account_id, note: "paid" })
        const created = yield* createKey({ account_id, name: "k", scopes: ["get-store"], budget_credits: 10 })
        const key_id = created.id
        yield* editKey({ key_id, name: "k", budget_credits: 20 })
        const rotated = yield* rotateKey({ key_id, overlap_hours: 1 })
        const revoked = yield* revokeKey({ key_id })
        yield* revokeKey({ key_id })
        return { created, rotated, revoked, suspended_at }
      })
      const { lines, result } = yield* collectLog(Effect.provideService(changes, Actor, "command ann"))
      const { created, revoked, rotated, suspended_at } = result
      const money = { who: "command ann", account: created.account_id }
      const key = { ...money, key_id: created.id }
      assert.deepStrictEqual(lines, [
        { event: "account created", ...money, before: null, after: { name: "A", balance_credits: 5_000 } },
        {
          ...{ event: "account credited", ...money, credits: 700, note: "sorry", reference: "R" },
          ...{ before: { balance_credits: 5_000 }, after: { balance_credits: 5_700 } }
        },
        {
          ...{ event: "account debited", ...money, credits: -6_000, note: "wrong", reference: null },
          ...{ before: { balance_credits: 5_700 }, after: { balance_credits: -300 } }
        },
        {
          ...{ event: "account suspended", ...money, note: "unpaid" },
          ...{ before: { suspended_at: null }, after: { suspended_at } }
        },
        {
          ...{ event: "account resumed", ...money, note: "paid" },
          ...{ before: { suspended_at }, after: { suspended_at: null } }
        },
        {
          ...{ event: "key created", ...key, before: null },
          after: { name: "k", scopes: ["get-store"], budget_credits: 10, last4: created.last4 }
        },
        { event: "key changed", ...key, before: { budget_credits: 10 }, after: { budget_credits: 20 } },
        {
          ...{ event: "key replaced", ...key },
          before: { last4: created.last4, former_last4: null, former_expires_at: null },
          after: { last4: rotated.last4, former_last4: created.last4, former_expires_at: rotated.former_expires_at }
        },
        { event: "key revoked", ...key, before: { revoked_at: null }, after: { revoked_at: revoked.revoked_at } }
      ])
    }).pipe(Effect.scoped)
  )
})
