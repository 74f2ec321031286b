import { assert, describe, it } from "@effect/vitest"
import { temporaryFolder } from "@larder/test/support/serve/sample-ledger.ts"
import { Effect, Layer, Logger, References } from "effect"
import { openEmbeddedLedger } from "../ledger/embedded/embedded-ledger.ts"
import { Administration, Ledger } from "../ledger/index.ts"
import { createDemoKey } from "./demo.ts"

const withTestLedger = <A, E>(work: Effect.Effect<A, E, Ledger | Administration>) =>
  Effect.gen(function* () {
    const ledger = Layer.effect(Ledger, openEmbeddedLedger(yield* temporaryFolder))
    return yield* Effect.provide(work, Layer.provideMerge(Ledger.layerAdministration, ledger))
  }).pipe(Effect.scoped)

let calls = 0
/** The cost of a call with this key; undefined if the key is not valid. */
const call = Effect.fnUntraced(function* (key: string | undefined) {
  const { authenticate, hold } = yield* Ledger
  return yield* Effect.promise(async () => {
    const caller = await authenticate(key ?? "", Date.now())
    if (caller === undefined) return undefined
    const admission = await hold(
      caller,
      { endpoint: "/v1/commodities", scope: "get-commodity-prices", credits: 10 },
      Date.now()
    )
    if ("refused" in admission) throw new Error(admission.refused)
    await admission.held.capture(`req_${++calls}`)
    return 10
  })
})

describe("the demo key of a start", () => {
  it.live("revokes the unused demo keys of earlier starts, and no other key", () =>
    withTestLedger(
      Effect.gen(function* () {
        const administration = yield* Administration
        const unused = yield* createDemoKey()
        const otherKey = {
          account_id: unused.account.id,
          name: "mine",
          scopes: ["get-store"],
          budget_credits: 0
        } as const
        yield* administration.createKey(otherKey)
        const used = yield* createDemoKey()
        assert.strictEqual(yield* call(used.key), 10)
        const neverUsed = yield* createDemoKey()
        const latest = yield* createDemoKey()
        assert.strictEqual(latest.account.id, unused.account.id)
        assert.isUndefined(yield* call(unused.key))
        assert.isUndefined(yield* call(neverUsed.key))
        assert.strictEqual(yield* call(used.key), 10)
        assert.strictEqual(yield* call(latest.key), 10)
        const keys = yield* administration.listKeys({ account_id: latest.account.id })
        const valid = keys.filter(({ revoked_at }) => revoked_at === null).map(({ name }) => name)
        assert.deepStrictEqual(valid.toSorted(), ["mine", "npm start", "npm start"])
      })
    )
  )

  it.live("is missing if the account already has 1,000 keys: the reason is logged, and the start continues", () =>
    withTestLedger(
      Effect.gen(function* () {
        const administration = yield* Administration
        const { id } = yield* administration.createAccount({ name: "Demo" })
        const otherKey = { account_id: id, name: "mine", scopes: ["get-store"], budget_credits: 0 } as const
        const creations = Array.from({ length: 1_000 }, () => administration.createKey(otherKey))
        yield* Effect.all(creations, { concurrency: 50, discard: true })
        const warnings: Array<string> = []
        const { account, key } = yield* createDemoKey().pipe(
          Effect.provide(Logger.layer([Logger.make(({ message }) => warnings.push(String(message)))])),
          Effect.provideService(References.MinimumLogLevel, "Warn")
        )
        assert.deepStrictEqual([account.id, key], [id, undefined])
        assert.lengthOf(warnings, 1)
        assert.match(warnings[0] ?? "", /^No demo key was created\. Account acct_\w+ has 1,000 keys .* Revoke one/)
      })
    )
  )
})
