import { cpSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { memoryStore } from "@larder/test/support/serve/memory-store.ts"
import { temporaryFolder } from "@larder/test/support/serve/sample-ledger.ts"
import { Effect, Exit, Scope, Stream } from "effect"
import { newApiKey } from "../api-key.ts"
import { type ChainHead, emptyHead, findBreak } from "../chain/chain.ts"
import { LedgerUnavailable } from "../errors.ts"
import type { AdmittedCall, LedgerAccess } from "../ledger.ts"
import type { ApiKeyView } from "../rules/ledger-state.ts"
import { openEmbeddedLedger, openLedgerOver } from "./embedded-ledger.ts"

const endpoint = "/v1/stores"
const now = Date.parse("2026-10-15T12:00:00.000Z")

/** Creates an account with 5,000 credits, and a key. */
const createKey = Effect.fnUntraced(function* (ledger: LedgerAccess, budget_credits = 1_000_000) {
  const { id } = yield* ledger.administration.createAccount({ name: "A" })
  return yield* ledger.administration.createKey({
    account_id: id,
    name: "k",
    scopes: ["get-store"],
    budget_credits
  })
})

const openInMemory = Effect.fnUntraced(function* (budget?: number) {
  const store = memoryStore()
  const ledger = yield* openLedgerOver(store)
  return { store, ledger, key: yield* createKey(ledger, budget) }
})

/** Looks the key up, like a request. */
const lookUp = async (ledger: LedgerAccess, { key }: { readonly key: string }): Promise<ApiKeyView> => {
  const found = await ledger.authenticate(key, now)
  if (found === undefined) throw new Error("the key is unknown")
  return found
}

const admit = async (ledger: LedgerAccess, key: ApiKeyView, credits: number): Promise<AdmittedCall> => {
  const admission = await ledger.hold(key, { endpoint, scope: "get-store", credits }, now)
  if ("refused" in admission) throw new Error(admission.refused)
  return admission.held
}

/** Makes a complete call for 100 credits. */
const pay = (ledger: LedgerAccess, key: { readonly key: string }, requestId: string) =>
  Effect.promise(async () => {
    const held = await admit(ledger, await lookUp(ledger, key), 100)
    await held.capture(requestId)
  })

const remaining = (ledger: LedgerAccess, key: { readonly key: string }) =>
  Effect.promise(async () => ledger.remaining(await lookUp(ledger, key), now))

describe("a key", () => {
  it.effect("is found only by the complete secret", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* openInMemory()
      assert.deepStrictEqual(yield* Effect.promise(() => ledger.authenticate(key.key, now)), {
        id: key.id,
        account_id: key.account_id,
        name: "k",
        scopes: new Set(["get-store" as const]),
        revision: 1,
        validUntil: Number.POSITIVE_INFINITY,
        isSuspended: false
      })
      for (const other of [newApiKey(), key.key.slice(0, -1), `${key.key} `, key.key.toLowerCase(), key.id, ""]) {
        assert.isUndefined(yield* Effect.promise(() => ledger.authenticate(other, now)))
      }
    })
  )

  it.effect("applies edits and a revocation from the next request on", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* openInMemory()
      const { administration } = ledger
      yield* administration.editKey({ key_id: key.id, scopes: ["get-product"], budget_credits: 0 })
      const edited = yield* Effect.promise(() => lookUp(ledger, key))
      assert.deepStrictEqual(edited.scopes, new Set(["get-product" as const]))
      const paused = yield* Effect.promise(() =>
        ledger.hold(edited, { endpoint, scope: "get-store", credits: 10 }, now)
      )
      assert.deepStrictEqual(paused, { refused: "monthly_spend_cap_reached" })
      const revoked = yield* administration.revokeKey({ key_id: key.id })
      assert.isNotNull(revoked.revoked_at)
      assert.isUndefined(yield* Effect.promise(() => ledger.authenticate(key.key, now)))
      assert.strictEqual((yield* Effect.flip(administration.editKey({ key_id: key.id, name: "x" })))._tag, "KeyRevoked")
    })
  )

  it.effect("admits nothing after an edit or a revocation until it is looked up again", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* openInMemory()
      const { administration } = ledger
      const before = yield* Effect.promise(() => lookUp(ledger, key))
      assert.isTrue(yield* Effect.promise(() => ledger.isCurrent(before, now)))
      yield* administration.editKey({ key_id: key.id, scopes: ["get-product"] })
      assert.isFalse(yield* Effect.promise(() => ledger.isCurrent(before, now)))
      const changed = { refused: "key_changed" as const }
      assert.deepStrictEqual(
        yield* Effect.promise(() => ledger.hold(before, { endpoint, scope: "get-store", credits: 100 }, now)),
        changed
      )

      const after = yield* Effect.promise(() => lookUp(ledger, key))
      assert.isTrue(yield* Effect.promise(() => ledger.isCurrent(after, now)))
      yield* administration.revokeKey({ key_id: key.id })
      assert.isFalse(yield* Effect.promise(() => ledger.isCurrent(after, now)))
      assert.deepStrictEqual(
        yield* Effect.promise(() => ledger.hold(after, { endpoint, scope: "get-store", credits: 100 }, now)),
        changed
      )
      assert.strictEqual(ledger.remaining(after, now), 5000)
    })
  )

  it.effect("fails with UnknownKey or UnknownAccount when it or its account is not in the ledger", () =>
    Effect.gen(function* () {
      const { administration } = (yield* openInMemory()).ledger
      const edited = yield* Effect.flip(administration.editKey({ key_id: "key_b", name: "b" }))
      assert.strictEqual(edited._tag, "UnknownKey")
      const revoked = yield* Effect.flip(administration.revokeKey({ key_id: "key_b" }))
      assert.strictEqual(revoked._tag, "UnknownKey")
      const issued = yield* Effect.flip(
        administration.createKey({ account_id: "acct_b", name: "b", scopes: ["get-store"], budget_credits: 10 })
      )
      assert.strictEqual(issued._tag, "UnknownAccount")
    })
  )

  it.effect("is listed with its budget and its last four characters", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* openInMemory(2_500)
      yield* pay(ledger, key, "req_1")
      const keys = yield* ledger.administration.listKeys({ account_id: key.account_id })
      assert.deepStrictEqual(
        keys.map(({ budget_usd, last4 }) => ({ budget_usd, last4 })),
        [{ budget_usd: 2.5, last4: key.key.slice(-4) }]
      )
    })
  )
})

describe("a burst", () => {
  it.effect("charges exactly 50 of 1,000 calls when the credits are enough for 50", () =>
    Effect.gen(function* () {
      const { key, ledger, store } = yield* openInMemory()
      const view = yield* Effect.promise(() => lookUp(ledger, key))
      const outcomes = yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: 1000 }, async (_, call) => {
            await new Promise((resolve) => setTimeout(resolve, call % 7))
            const admission = await ledger.hold(view, { endpoint, scope: "get-store", credits: 100 }, now)
            if ("refused" in admission) return admission.refused
            await admission.held.capture(`req_${call}`)
            return "charged"
          })
        )
      )
      const count = (name: string) => outcomes.filter((outcome) => outcome === name).length
      assert.strictEqual(count("charged"), 50)
      assert.strictEqual(count("insufficient_balance"), 950)
      const charges = store.entries.filter((entry) => entry.type === "charge")
      assert.strictEqual(new Set(charges.map((entry) => entry.request_id)).size, 50)
      assert.strictEqual(ledger.remaining(view, now), 0)
      assert.strictEqual(ledger.counters.charges, 50)
      assert.strictEqual(ledger.counters.refused_insufficient_balance, 950)
    })
  )

  it.effect("writes the 20 charges of one iteration of the event loop as one group", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* openInMemory()
      const groups = ledger.counters.groups
      yield* Effect.promise(async () => {
        const view = await lookUp(ledger, key)
        const holds = await Promise.all(Array.from({ length: 20 }, () => admit(ledger, view, 100)))
        await Promise.all(holds.map((held, call) => held.capture(`req_${call}`)))
      })
      assert.strictEqual(ledger.counters.groups - groups, 1)
    })
  )
})

describe("a request id", () => {
  it.effect("is charged once; the second call costs nothing", () =>
    Effect.gen(function* () {
      const { key, ledger, store } = yield* openInMemory()
      yield* pay(ledger, key, "req_1")
      const held = yield* Effect.promise(async () => admit(ledger, await lookUp(ledger, key), 100))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => held.capture("req_1")))))
      assert.strictEqual(yield* remaining(ledger, key), 4900)
      assert.strictEqual(store.entries.filter((entry) => entry.request_id === "req_1").length, 1)
    })
  )
})

describe("a store that fails", () => {
  it.live("charges no call, releases the holds, and is tried again until it works", () =>
    Effect.gen(function* () {
      const { key, ledger, store } = yield* openInMemory()
      store.failure = new Error("no space left on device")
      const failed = yield* Effect.promise(async () => {
        const view = await lookUp(ledger, key)
        const holds = await Promise.all(
          ["req_1", "req_2"].map(async (id) => [id, await admit(ledger, view, 100)] as const)
        )
        return Promise.allSettled(holds.map(([id, held]) => held.capture(id)))
      })
      for (const outcome of failed) {
        assert.isTrue(outcome.status === "rejected" && outcome.reason instanceof LedgerUnavailable)
      }
      assert.strictEqual(yield* remaining(ledger, key), 5000)
      assert.isFalse(ledger.writable())
      const error = yield* Effect.flip(ledger.administration.createAccount({ name: "B" }))
      assert.strictEqual(error.message, "The ledger cannot be written: no space left on device")
      assert.strictEqual((yield* ledger.administration.listAccounts({})).length, 1)

      store.failure = undefined
      while (!ledger.writable()) yield* Effect.sleep("50 millis") // without calls: the ledger retries by itself
      yield* pay(ledger, key, "req_3")
      assert.strictEqual(yield* remaining(ledger, key), 4900)
      assert.deepStrictEqual(
        store.entries.map((entry) => entry.sequence),
        [1, 2]
      )
      let head: ChainHead = emptyHead
      for (const entry of store.entries) {
        assert.isUndefined(findBreak(head, entry)) // the failed group left no link in the chain
        head = entry
      }
    })
  )
})

describe("the ledger in a folder", () => {
  it.effect("writes a charge to the disk before its capture resolves", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const live = path.join(folder, "live")
      const killed = path.join(folder, "killed")
      const ledger = yield* openEmbeddedLedger(live)
      const key = yield* createKey(ledger)
      yield* pay(ledger, key, "req_1")
      cpSync(live, killed, { recursive: true })
      const reopened = yield* openEmbeddedLedger(killed)
      assert.strictEqual(yield* remaining(reopened, key), 4900)
      assert.strictEqual((yield* Effect.promise(() => lookUp(reopened, key))).id, key.id)
    }).pipe(Effect.scoped)
  )

  it.effect("waits for running captures when it closes", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const scope = yield* Scope.make()
      const ledger = yield* openEmbeddedLedger(folder).pipe(Scope.provide(scope))
      const key = yield* createKey(ledger)
      const held = yield* Effect.promise(async () => admit(ledger, await lookUp(ledger, key), 100))
      const running = held.capture("req_1")
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => running)
      const reopened = yield* openEmbeddedLedger(folder)
      assert.strictEqual(yield* remaining(reopened, key), 4900)
    }).pipe(Effect.scoped)
  )

  it.effect("lists the entries of an account with the balance after each", () =>
    Effect.gen(function* () {
      const ledger = yield* Effect.flatMap(temporaryFolder, openEmbeddedLedger)
      const key = yield* createKey(ledger)
      yield* createKey(ledger)
      yield* pay(ledger, key, "req_1")
      yield* ledger.administration.creditAccount({ account_id: key.account_id, credits: 250, note: "sorry" })
      const lines = yield* Stream.runCollect(ledger.administration.entriesOf(key.account_id))
      assert.deepStrictEqual(
        lines.map(({ balance, credits, endpoint, key_id, note, request_id, type }) => {
          return { balance, credits, endpoint, key_id, note, request_id, type }
        }),
        [
          {
            balance: 5000,
            credits: 5000,
            endpoint: null,
            key_id: null,
            note: "starting balance",
            request_id: null,
            type: "grant"
          },
          { balance: 4900, credits: -100, endpoint, key_id: key.id, note: null, request_id: "req_1", type: "charge" },
          {
            balance: 5150,
            credits: 250,
            endpoint: null,
            key_id: null,
            note: "sorry",
            request_id: null,
            type: "adjustment"
          }
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("never stores the secret of a key", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ledger = yield* openEmbeddedLedger(folder)
      const key = yield* createKey(ledger)
      const secret = key.key.slice("svc_data_".length, -4)
      const findSecret = () =>
        readdirSync(folder).filter((name) => readFileSync(path.join(folder, name)).includes(secret))
      assert.deepStrictEqual(findSecret(), [])
      yield* Stream.runDrain(ledger.administration.entriesOf(key.account_id)) // now the entries are in the database
      assert.deepStrictEqual(findSecret(), [])
    }).pipe(Effect.scoped)
  )
})
