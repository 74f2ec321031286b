/** The ledger in a folder: what is written is there when it is opened again, whatever its size and whatever the disk does. */
import { cpSync, mkdirSync, rmSync, statSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  aGrant,
  aKey,
  anAccount,
  birth,
  charges,
  createdAt,
  journalsIn,
  killedAfter,
  numbersOf
} from "@larder/test/support/serve/killed-ledger.ts"
import { append, author, load, opened, temporaryFolder, written } from "@larder/test/support/serve/sample-ledger.ts"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Result, Schema, Stream } from "effect"
import { creditAccount, openAccount } from "../decisions.ts"
import type { Group } from "../machine.ts"
import { monthOf } from "../moments.ts"
import { Account, ApiKey, Entry } from "../records.ts"
import {
  SnapshotAccount,
  SnapshotRow,
  SnapshotSpending,
  UsageOfEndpoint,
  UsageOfMonth,
  UsageRow
} from "./derived-records.ts"
import { embeddedStore } from "./embedded-store.ts"
import type { LedgerStore } from "./store.ts"

describe("the ledger in a folder", () => {
  it.live("is readable by its owner only, in a home that others may read", () =>
    Effect.gen(function* () {
      const home = path.join(yield* temporaryFolder, "home")
      yield* Effect.scoped(embeddedStore(path.join(home, "ledger")))
      assert.strictEqual(statSync(path.join(home, "ledger")).mode & 0o777, 0o700)
      assert.notStrictEqual(statSync(home).mode & 0o044, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("gives back what was written when it is opened again", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* written(folder, [birth, charges(2, 3)])
      assert.deepStrictEqual(journalsIn(folder), [])
      const [snapshot, entries] = yield* opened(folder, (store) =>
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

  it.live("gives back the newest entries from full files, the file being written and the database", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const read = (store: LedgerStore, before: number, limit: number) =>
        Effect.map(store.entriesBefore({ account_id: "acct_a", before, limit }), (entries) =>
          entries.map(({ position }) => position)
        )
      const down = (from: number, count: number) => Array.from({ length: count }, (_, index) => from - index)
      yield* opened(
        folder,
        (store) =>
          Effect.gen(function* () {
            yield* append(store, [birth])
            let last = 1
            for (const files of [1, 3, 2, 12]) {
              const ends = Array.from({ length: files }, (_, index) => last + 10 * (index + 1))
              yield* append(
                store,
                ends.map((end) => charges(...down(end, 10).toReversed()))
              )
              last += 10 * files
              assert.deepStrictEqual(yield* read(store, last + 1, 1_000), down(last, last))
              assert.deepStrictEqual(yield* read(store, last + 1, 25), down(last, Math.min(25, last)))
              assert.deepStrictEqual(yield* read(store, last - 4, 9), down(last - 5, Math.min(9, last - 5)))
            }
          }),
        { journalFileSize: 4_096 }
      )
    }).pipe(Effect.scoped)
  )

  it.live("gives back the entries of all accounts in the order of writing, over any number of pages", () =>
    Effect.gen(function* () {
      const write = author()
      const births = ["acct_a", "acct_b", "acct_c"].map((id) => write(openAccount(id, id, 0)))
      const credit = (index: number) =>
        Result.getOrThrow(
          creditAccount({ id: `acct_${"abc"[(index * 7) % 3]}`, balance_credits: 0 }, index + 1, "x", index)
        )
      const written: Array<Entry> = []
      yield* opened(yield* temporaryFolder, (store) =>
        Effect.gen(function* () {
          for (const count of [0, 1, 1_000, 1_001, 2_500]) {
            const first = births.slice(written.length, count)
            const missing = count - written.length - first.length
            const more = Array.from({ length: Math.max(0, missing) }, (_, index) => credit(written.length + index))
            const groups = [...first, write({ entries: more.flatMap(({ entries }) => entries) })]
            yield* append(store, groups)
            written.push(...groups.flatMap(({ entries }) => entries))
            assert.strictEqual(written.length, count)
            assert.deepStrictEqual(yield* Stream.runCollect(store.allEntries), written)
          }
        })
      )
    }).pipe(Effect.scoped)
  )

  it.effect("gives back what was written after a kill", () =>
    Effect.gen(function* () {
      const { folder } = yield* killedAfter(birth, charges(2, 3))
      const [snapshot, numbers] = yield* opened(folder, (store) => Effect.all([store.load, numbersOf(store)]))
      assert.strictEqual(snapshot.accounts[0]?.head.balance, 4980)
      assert.deepStrictEqual(numbers, [1, 2, 3])
    })
  )

  it.effect("moves full journal files into the database while it runs, and reads across them", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const last = 150
      const read = Effect.gen(function* () {
        const store = yield* embeddedStore(folder, { journalFileSize: 4096 })
        yield* append(store, [birth])
        for (let sequence = 2; sequence <= last; sequence++) yield* append(store, [charges(sequence)])
        return yield* numbersOf(store)
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(
        yield* read,
        Array.from({ length: last }, (_, index) => index + 1)
      )
      assert.deepStrictEqual(journalsIn(folder), [])
    })
  )

  it.effect("takes a group that is larger than a journal file", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const many = Array.from({ length: 100 }, (_, index) => index + 2)
      const groups = [birth, charges(...many), charges(102)]
      yield* opened(folder, (store) => append(store, groups), { journalFileSize: 4096 })
      assert.strictEqual((yield* opened(folder, numbersOf)).length, 102)
    })
  )

  it.effect("keeps the newest state of a key", () =>
    Effect.gen(function* () {
      const revoked = aKey({ name: "new", revoked_at: createdAt, revision: 3 })
      const edits: Group = { accounts: [], keys: [aKey({ name: "new", revision: 2 }), revoked], entries: [] }
      const { folder } = yield* killedAfter(birth, edits)
      assert.deepStrictEqual((yield* load(folder)).keys, [revoked])
    })
  )

  it.effect("rejects a second opener while it is open", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const second = opened(folder, () => Effect.flip(Effect.scoped(embeddedStore(folder))))
      assert.strictEqual((yield* second)._tag, "LedgerInUse")
      yield* written(folder, [birth])
    })
  )

  it.effect("describes every table and column", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* written(folder, [birth])
      const db = yield* DuckDb.readWrite(path.join(folder, "ledger.duckdb"))
      const Column = Schema.Struct({ name: Schema.String, comment: Schema.NullOr(Schema.String) })
      const columns = yield* db.all(
        Column,
        `select table_name || '.' || column_name as name, comment from duckdb_columns() where not internal
         union all select table_name, comment from duckdb_tables() where not internal`
      )
      const usage = [UsageRow, UsageOfEndpoint, UsageOfMonth]
      const records = [Account, ApiKey, Entry, ...usage, SnapshotRow, SnapshotAccount, SnapshotSpending]
      const fields = records.flatMap((record) => Object.keys(record.fields))
      assert.strictEqual(columns.length, fields.length + records.length)
      assert.deepStrictEqual(
        columns.filter(({ comment }) => comment === null || comment === ""),
        []
      )
      assert.deepStrictEqual(yield* db.rows("select count(*)::integer as n from ledger.entry"), [{ n: 1 }])
    }).pipe(Effect.scoped)
  )
})

describe("a disk that cannot be written", () => {
  it.effect("makes the store reject a group, and use the same numbers again once the disk works", () =>
    Effect.gen(function* () {
      const folder = path.join(yield* temporaryFolder, "ledger")
      const refused = opened(folder, (store) =>
        Effect.gen(function* () {
          rmSync(folder, { recursive: true })
          const error = yield* Effect.flip(Effect.tryPromise({ try: () => store.append(birth), catch: String }))
          mkdirSync(folder)
          yield* append(store, [birth, charges(2)])
          cpSync(folder, `${folder}-killed`, { recursive: true })
          return error
        })
      )
      assert.match(yield* refused, /The ledger cannot be written: ENOENT/)
      assert.deepStrictEqual(yield* opened(`${folder}-killed`, numbersOf), [1, 2])
    })
  )
})
