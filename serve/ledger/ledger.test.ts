import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope, Stream } from "effect"
import { newApiKey } from "../access/api-key.ts"
import { embeddedStore } from "./embedded-store.ts"
import { type Hold, Ledger, type LedgerAccess } from "./ledger.ts"
import { memoryStore } from "./memory-store-for-tests.ts"
import { LedgerUnavailable } from "./store.ts"

const endpoint = "/v1/stores"
const now = Date.parse("2026-10-15T12:00:00.000Z")

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-ledger-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** An account with 5,000 credits and a key. */
const keyIn = Effect.fnUntraced(function* (ledger: LedgerAccess, budget_credits = 1_000_000) {
  const { id } = yield* ledger.administration.createAccount({ name: "A" })
  return yield* ledger.administration.createKey({
    account_id: id,
    name: "k",
    scopes: ["get-store"],
    budget_credits
  })
})

const inMemory = Effect.fnUntraced(function* (budget?: number) {
  const store = memoryStore()
  const ledger = yield* Ledger.make(store)
  return { store, ledger, key: yield* keyIn(ledger, budget) }
})

const admitted = (ledger: LedgerAccess, keyId: string, credits: number): Hold => {
  const admission = ledger.hold(keyId, endpoint, credits, now)
  if ("refused" in admission) throw new Error(admission.refused)
  return admission.hold
}

describe("a key", () => {
  it.effect("is known by its whole text only", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* inMemory()
      assert.deepStrictEqual(ledger.authenticate(key.key), {
        id: key.id,
        account_id: key.account_id,
        name: "k",
        scopes: new Set(["get-store" as const])
      })
      for (const other of [newApiKey(), key.key.slice(0, -1), `${key.key} `, key.key.toLowerCase(), key.id, ""]) {
        assert.isUndefined(ledger.authenticate(other))
      }
    })
  )

  it.effect("takes edits and revocation for the next request", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* inMemory()
      const { administration } = ledger
      yield* administration.editKey({ key_id: key.id, scopes: ["get-product"], budget_credits: 0 })
      assert.deepStrictEqual(ledger.authenticate(key.key)?.scopes, new Set(["get-product" as const]))
      assert.deepStrictEqual(ledger.hold(key.id, endpoint, 10, now), { refused: "spend_cap_reached" })
      const revoked = yield* administration.revokeKey({ key_id: key.id })
      assert.isNotNull(revoked.revoked_at)
      assert.isUndefined(ledger.authenticate(key.key))
      assert.strictEqual((yield* Effect.flip(administration.editKey({ key_id: key.id, name: "x" })))._tag, "KeyRevoked")
    })
  )

  it.effect("is shown once and listed by its last four characters", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* inMemory(2_500)
      yield* Effect.promise(() => ledger.commit(admitted(ledger, key.id, 100), "req_1"))
      const keys = yield* ledger.administration.listKeys({ account_id: key.account_id })
      assert.deepStrictEqual(
        keys.map(({ budget_usd, last4 }) => ({ budget_usd, last4 })),
        [{ budget_usd: 2.5, last4: key.key.slice(-4) }]
      )
    })
  )
})

describe("a burst", () => {
  it.effect("of 1,000 calls with credits for 50 charges exactly 50", () =>
    Effect.gen(function* () {
      const { key, ledger, store } = yield* inMemory()
      const outcomes = yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: 1000 }, async (_, call) => {
            await new Promise((resolve) => setTimeout(resolve, call % 7))
            const admission = ledger.hold(key.id, endpoint, 100, now)
            if ("refused" in admission) return admission.refused
            await ledger.commit(admission.hold, `req_${call}`)
            return "charged"
          })
        )
      )
      const count = (outcome: string) => outcomes.filter((one) => one === outcome).length
      assert.strictEqual(count("charged"), 50)
      assert.strictEqual(count("insufficient_balance"), 950)
      const charges = store.entries.filter((entry) => entry.type === "charge")
      assert.strictEqual(new Set(charges.map((entry) => entry.request_id)).size, 50)
      assert.strictEqual(ledger.remaining(key.id, now), 0)
      assert.strictEqual(ledger.counters.commits, 50)
      assert.strictEqual(ledger.counters.refused_insufficient_balance, 950)
    })
  )

  it.effect("of one turn of the event loop is written as one group", () =>
    Effect.gen(function* () {
      const { key, ledger } = yield* inMemory()
      const groups = ledger.counters.groups
      yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: 20 }, (_, call) => ledger.commit(admitted(ledger, key.id, 100), `req_${call}`))
        )
      )
      assert.strictEqual(ledger.counters.groups - groups, 1)
    })
  )
})

describe("a request id", () => {
  it.effect("is charged once; the second call keeps its credits", () =>
    Effect.gen(function* () {
      const { key, ledger, store } = yield* inMemory()
      yield* Effect.promise(() => ledger.commit(admitted(ledger, key.id, 100), "req_1"))
      const second = yield* Effect.exit(Effect.tryPromise(() => ledger.commit(admitted(ledger, key.id, 100), "req_1")))
      assert.isTrue(Exit.isFailure(second))
      assert.strictEqual(ledger.remaining(key.id, now), 4900)
      assert.strictEqual(store.entries.filter((entry) => entry.request_id === "req_1").length, 1)
    })
  )
})

describe("a store that fails", () => {
  it.live("charges nobody, gives the holds back, and is tried again until it works", () =>
    Effect.gen(function* () {
      const { key, ledger, store } = yield* inMemory()
      store.failure = new Error("no space left on device")
      const failed = yield* Effect.promise(() =>
        Promise.allSettled(["req_1", "req_2"].map((id) => ledger.commit(admitted(ledger, key.id, 100), id)))
      )
      for (const outcome of failed) {
        assert.isTrue(outcome.status === "rejected" && outcome.reason instanceof LedgerUnavailable)
      }
      assert.strictEqual(ledger.remaining(key.id, now), 5000)
      assert.isFalse(ledger.writable())
      const error = yield* Effect.flip(ledger.administration.createAccount({ name: "B" }))
      assert.strictEqual(error.message, "The ledger cannot be written: no space left on device")
      assert.strictEqual((yield* ledger.administration.listAccounts({})).length, 1)

      store.failure = undefined
      while (!ledger.writable()) yield* Effect.sleep("50 millis") // nobody calls: the ledger finds out by itself
      yield* Effect.promise(() => ledger.commit(admitted(ledger, key.id, 100), "req_3"))
      assert.strictEqual(ledger.remaining(key.id, now), 4900)
      assert.deepStrictEqual(
        store.entries.map((entry) => entry.sequence),
        [1, 2]
      )
    })
  )
})

describe("the ledger in a folder", () => {
  it.effect("has a charge on the disk before the commit resolves", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const live = path.join(folder, "live")
      const killed = path.join(folder, "killed")
      const ledger = yield* Effect.flatMap(embeddedStore(live), Ledger.make)
      const key = yield* keyIn(ledger)
      yield* Effect.promise(() => ledger.commit(admitted(ledger, key.id, 100), "req_1"))
      cpSync(live, killed, { recursive: true })
      const again = yield* Effect.flatMap(embeddedStore(killed), Ledger.make)
      assert.strictEqual(again.remaining(key.id, now), 4900)
      assert.strictEqual(again.authenticate(key.key)?.id, key.id)
    }).pipe(Effect.scoped)
  )

  it.effect("waits for running commits when it closes", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const scope = yield* Scope.make()
      const ledger = yield* Effect.flatMap(embeddedStore(folder), Ledger.make).pipe(Scope.provide(scope))
      const key = yield* keyIn(ledger)
      const running = ledger.commit(admitted(ledger, key.id, 100), "req_1")
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => running)
      const again = yield* Effect.flatMap(embeddedStore(folder), Ledger.make)
      assert.strictEqual(again.remaining(key.id, now), 4900)
    }).pipe(Effect.scoped)
  )

  it.effect("tells the statement of an account, with the balance after each entry", () =>
    Effect.gen(function* () {
      const ledger = yield* Effect.flatMap(Effect.flatMap(temporaryFolder, embeddedStore), Ledger.make)
      const key = yield* keyIn(ledger)
      yield* keyIn(ledger)
      yield* Effect.promise(() => ledger.commit(admitted(ledger, key.id, 100), "req_1"))
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

  it.effect("never holds a key", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ledger = yield* Effect.flatMap(embeddedStore(folder), Ledger.make)
      const key = yield* keyIn(ledger)
      const secret = key.key.slice("svc_data_".length, -4)
      const holdsKey = () =>
        readdirSync(folder).filter((name) => readFileSync(path.join(folder, name)).includes(secret))
      assert.deepStrictEqual(holdsKey(), [])
      yield* Stream.runDrain(ledger.administration.entriesOf(key.account_id)) // now it is in the database
      assert.deepStrictEqual(holdsKey(), [])
    }).pipe(Effect.scoped)
  )
})
