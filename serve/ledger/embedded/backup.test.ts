import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { append, sampleGroups, temporaryFolder, useStore } from "@larder/test/support/serve/sample-ledger.ts"
import { Effect, Stream } from "effect"
import type { LedgerAccess } from "../ledger.ts"
import { openEmbeddedLedger } from "./embedded-ledger.ts"

const openLedgerIn = (folder: string) => openEmbeddedLedger(path.join(folder, "ledger"))

/** Creates an account with 5,000 credits, and a key. */
const newKey = Effect.fnUntraced(function* ({ administration }: LedgerAccess) {
  const { id } = yield* administration.createAccount({ name: "A" })
  return yield* administration.createKey({
    account_id: id,
    name: "k",
    scopes: ["get-store"],
    budget_credits: 100_000
  })
})

/** Makes a complete call for 1 credit. */
const pay = async (ledger: LedgerAccess, token: string, requestId: string) => {
  const view = await ledger.authenticate(token, Date.now())
  if (view === undefined) throw new Error("the key is unknown")
  const admission = await ledger.hold(view, { endpoint: "/v1/stores", scope: "get-store", credits: 1 }, Date.now())
  if ("refused" in admission) throw new Error(admission.refused)
  await admission.held.capture(requestId)
}

/** Opens the copy as `ledger.sqlite` in an otherwise empty folder. */
const openRestored = (folder: string, copy: string) => {
  mkdirSync(path.join(folder, "restored", "ledger"), { recursive: true })
  copyFileSync(copy, path.join(folder, "restored", "ledger", "ledger.sqlite"))
  return openLedgerIn(path.join(folder, "restored"))
}

describe("a backup", () => {
  it.live("contains one snapshot while calls are charged, and can be opened as a ledger", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = path.join(folder, "copy.sqlite")
      const ledger = yield* openLedgerIn(folder)
      const { administration } = ledger
      const key = yield* newKey(ledger)
      let charged = 0
      let isBackedUp = false
      const calls = Effect.promise(async () => {
        while (!isBackedUp || charged < 200) await pay(ledger, key.key, `req_${++charged}`)
      })
      const backUp = Effect.gen(function* () {
        while (charged < 50) yield* Effect.sleep("1 millis")
        const before = charged
        const backup = yield* administration.backup({ file })
        isBackedUp = true
        return { before, backup }
      })
      const [, { backup, before }] = yield* Effect.all([calls, backUp], { concurrency: 2 })

      assert.deepStrictEqual(backup, { file, entries: backup.entries, bytes: statSync(file).size })
      assert.isAtLeast(backup.entries, before) // one call may have been in flight
      assert.isBelow(backup.entries, charged + 1)
      const copy = yield* openRestored(folder, file)
      const entries = yield* Stream.runCollect(copy.administration.entriesOf(key.account_id))
      const original = yield* Stream.runCollect(administration.entriesOf(key.account_id))
      assert.deepStrictEqual(entries, original.slice(0, backup.entries))
      assert.strictEqual(original.length, charged + 1)

      const [account] = yield* copy.administration.listAccounts({})
      assert.strictEqual(account?.balance_credits, 5_000 - (backup.entries - 1))
      const listed = yield* copy.administration.listKeys({ account_id: key.account_id })
      const { key: _, ...summary } = key
      assert.deepStrictEqual(listed, [{ ...summary, spent_usd: (backup.entries - 1) / 1_000 }])
      assert.deepStrictEqual((yield* copy.administration.verify({})).problems, [])

      yield* Effect.promise(() => pay(copy, key.key, "req_after"))
      assert.strictEqual((yield* copy.administration.verify({})).entries, backup.entries + 1)
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("is readable by its owner only, and leaves no other file", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = path.join(folder, "copy.sqlite")
      const backup = yield* useStore(path.join(folder, "ledger"), (store) =>
        Effect.andThen(append(store, sampleGroups()), store.backup(file))
      )
      assert.strictEqual(backup.entries, 62)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.deepStrictEqual(readdirSync(folder).toSorted(), ["copy.sqlite", "ledger"])
    }).pipe(Effect.scoped)
  )

  it.live("can be made again with a different name", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ledger = yield* openLedgerIn(folder)
      const key = yield* newKey(ledger)
      const first = yield* ledger.administration.backup({ file: path.join(folder, "1.sqlite") })
      yield* Effect.promise(() => pay(ledger, key.key, "req_1"))
      const second = yield* ledger.administration.backup({ file: path.join(folder, "2.sqlite") })
      assert.deepStrictEqual([first.entries, second.entries], [1, 2])
    }).pipe(Effect.scoped)
  )

  it.live("refuses to overwrite a file, and leaves it unchanged", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = path.join(folder, "copy.sqlite")
      writeFileSync(file, "precious")
      const { administration } = yield* openLedgerIn(folder)
      const error = yield* Effect.flip(administration.backup({ file }))
      assert.strictEqual(error._tag, "BackupFailed")
      assert.strictEqual(
        error.message,
        `The ledger was not backed up to ${file}: a file with this name already exists; choose another name`
      )
      assert.strictEqual(readFileSync(file, "utf8"), "precious")
    }).pipe(Effect.scoped)
  )

  it.live("reports a path that cannot be written, and the ledger keeps working", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ledger = yield* openLedgerIn(folder)
      const key = yield* newKey(ledger)
      const file = path.join(folder, "missing", "copy.sqlite")
      const error = yield* Effect.flip(ledger.administration.backup({ file }))
      assert.match(error.message, /The ledger was not backed up to .*: ENOENT/)
      const relative = yield* Effect.flip(ledger.administration.backup({ file: "copy.sqlite" }))
      assert.include(relative.message, "the path must be absolute")
      yield* Effect.promise(() => pay(ledger, key.key, "req_1"))
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})
