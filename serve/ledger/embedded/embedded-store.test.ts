/** The ledger in a folder: when it is opened again, it contains what was written, even after a kill or a full disk. */
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  accountCreation,
  aGrant,
  aKey,
  anAccount,
  charges,
  createdAt,
  makeKilledLedger,
  numbersOf
} from "@larder/test/support/serve/killed-ledger.ts"
import {
  append,
  load,
  temporaryFolder,
  updateDerivedTables,
  useStore,
  writeGroups
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect, Stream } from "effect"
import type { Group } from "../rules/ledger-state.ts"
import { monthOf } from "../utc-calendar.ts"
import type { LedgerStore } from "./embedded-store.ts"
import { openEmbeddedStore } from "./embedded-store.ts"
import { ledgerPath, openLedgerFile } from "./ledger-file.ts"

describe("the ledger in a folder", () => {
  it.live("is readable by its owner only, in a home that others may read, even if it existed before", () =>
    Effect.gen(function* () {
      const home = path.join(yield* temporaryFolder, "home")
      const folder = path.join(home, "ledger")
      const modes = Effect.sync(() =>
        [folder, ...readdirSync(folder).map((name) => path.join(folder, name))].map(
          (name) => statSync(name).mode & 0o077
        )
      )
      const checkModes = Effect.scoped(
        Effect.gen(function* () {
          const file = yield* openLedgerFile(folder)
          yield* append(yield* openEmbeddedStore(file), [])
          assert.deepStrictEqual([...new Set(yield* modes)], [0])
        })
      )
      yield* checkModes
      assert.notStrictEqual(statSync(home).mode & 0o044, 0)
      for (const name of [folder, path.join(folder, "ledger.sqlite"), path.join(folder, ".lock")])
        chmodSync(name, 0o777)
      yield* checkModes
      assert.deepStrictEqual([...new Set(yield* modes)], [0])

      const existing = path.join(home, "given")
      mkdirSync(existing, { mode: 0o755 })
      yield* Effect.scoped(openLedgerFile(existing))
      assert.strictEqual(statSync(existing).mode & 0o777, 0o700)
    }).pipe(Effect.scoped)
  )

  it.effect("returns what was written when it is opened again", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* writeGroups(folder, [accountCreation, charges(2, 3)])
      const [{ stored: _, ...snapshot }, entries] = yield* useStore(folder, (store) =>
        Effect.all([store.load, Stream.runCollect(store.entriesOf("acct_a"))])
      )
      assert.deepStrictEqual(snapshot, {
        sequence: 3,
        accounts: [{ account: anAccount, head: { position: 3, balance: 4980, hash: aCharge(3).hash } }],
        keys: [aKey()],
        spending: [{ key_id: "key_a", month: monthOf(Date.parse(createdAt)), spent: 20 }],
        booked: []
      })
      assert.deepStrictEqual(entries, [aGrant, aCharge(2), aCharge(3)])
    })
  )

  it.live("returns the newest entries, whether the index has all of them, some or none", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const read = (store: LedgerStore, before: number, limit: number) =>
        Effect.map(store.entriesBefore({ account_id: "acct_a", before, limit }), (entries) =>
          entries.map(({ position }) => position)
        )
      const countDown = (from: number, count: number) => Array.from({ length: count }, (_, index) => from - index)
      yield* writeGroups(folder, [accountCreation])
      let last = 1
      for (const added of [10, 30, 20, 120]) {
        yield* useStore(folder, (store) => append(store, [charges(...countDown(last + added, added).toReversed())]))
        last += added
        const check = useStore(folder, (store) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* read(store, last + 1, 1_000), countDown(last, last))
            assert.deepStrictEqual(yield* read(store, last + 1, 25), countDown(last, Math.min(25, last)))
            assert.deepStrictEqual(yield* read(store, last - 4, 9), countDown(last - 5, Math.min(9, last - 5)))
            assert.strictEqual((yield* numbersOf(store)).length, last)
          })
        )
        yield* check
        if (added > 10) {
          yield* updateDerivedTables(folder)
          yield* check
        }
      }
    }).pipe(Effect.scoped)
  )

  it.effect("returns what was written after a kill", () =>
    Effect.gen(function* () {
      const folder = yield* makeKilledLedger(accountCreation, charges(2, 3))
      const [snapshot, numbers] = yield* useStore(folder, (store) => Effect.all([store.load, numbersOf(store)]))
      assert.strictEqual(snapshot.accounts[0]?.head.balance, 4980)
      assert.deepStrictEqual(numbers, [1, 2, 3])
    }).pipe(Effect.scoped)
  )

  it.effect("keeps the newest state of a key, with all its fields", () =>
    Effect.gen(function* () {
      const revoked = aKey({
        name: "new",
        former_sha256: "the former hash",
        former_last4: "dcba",
        former_expires_at: "2026-11-02T00:00:00.000Z",
        revoked_at: "2026-11-03T00:00:00.000Z",
        expires_at: "2026-11-04T00:00:00.000Z",
        revision: 3
      })
      const edits: Group = { accounts: [], keys: [aKey({ name: "new", revision: 2 }), revoked], entries: [] }
      const folder = yield* makeKilledLedger(accountCreation, edits)
      assert.deepStrictEqual((yield* load(folder)).keys, [revoked])
    }).pipe(Effect.scoped)
  )

  it.effect("refuses to be opened twice", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const second = useStore(folder, () => Effect.flip(Effect.scoped(openLedgerFile(folder))))
      assert.strictEqual((yield* second)._tag, "LedgerInUse")
      yield* writeGroups(folder, [accountCreation])
    })
  )
})

describe("a disk that cannot be written", () => {
  it.effect("makes the store reject a group, and use the same numbers again once the disk works", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const copy = `${folder}-killed`
      yield* Effect.scoped(
        Effect.gen(function* () {
          const file = yield* openLedgerFile(folder)
          const store = yield* openEmbeddedStore(file)
          yield* append(store, [accountCreation])
          const pages = file.sqlite.all("pragma page_count")[0]?.page_count
          file.sqlite.exec(`pragma max_page_count = ${pages}`)
          const many = charges(...Array.from({ length: 200 }, (_, index) => index + 2))
          const error = yield* Effect.flip(Effect.tryPromise({ try: () => store.append(many), catch: String }))
          assert.match(error, /The ledger cannot be written: database or disk is full/)
          file.sqlite.exec("pragma max_page_count = 1000000")
          yield* append(store, [charges(2)])
          cpSync(folder, copy, { recursive: true })
        })
      )
      assert.deepStrictEqual(yield* useStore(copy, numbersOf), [1, 2])
      rmSync(copy, { recursive: true })
    }).pipe(Effect.scoped)
  )
})

describe("a group", () => {
  it.effect("writes to the disk even if it is empty, which shows whether the disk accepts writes", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const logSize = () => statSync(`${ledgerPath(folder)}-wal`).size
      yield* useStore(folder, (store) =>
        Effect.gen(function* () {
          const before = logSize()
          yield* append(store, [{ accounts: [], keys: [], entries: [] }])
          assert.isAbove(logSize(), before)
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("is flushed to the disk before it is reported", () =>
    Effect.gen(function* () {
      const { sqlite } = yield* openLedgerFile(yield* temporaryFolder)
      assert.deepStrictEqual({ ...sqlite.all("pragma synchronous")[0] }, { synchronous: 2 })
      assert.deepStrictEqual({ ...sqlite.all("pragma journal_mode")[0] }, { journal_mode: "wal" })
    }).pipe(Effect.scoped)
  )
})
