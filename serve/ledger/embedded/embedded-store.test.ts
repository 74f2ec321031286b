import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Logger, Schema, Stream } from "effect"
import { beginning, type ChainHead, hashOf } from "../chain.ts"
import { creditAccount, openAccount } from "../decisions.ts"
import type { Group } from "../machine.ts"
import { monthOf } from "../moments.ts"
import { Account, ApiKey, Entry } from "../records.ts"
import { SnapshotAccount, SnapshotRow, SnapshotSpending, UsageRow } from "./derived-records.ts"
import { embeddedStore } from "./embedded-store.ts"
import * as journalGroup from "./journal-group.ts"
import { author } from "./sample-ledger-for-tests.ts"
import type { LedgerStore } from "./store.ts"

const createdAt = "2026-10-31T23:59:59.999Z"
const anAccount: Account = { id: "acct_a", name: "A & Söhne", created_at: createdAt }
const aKey = (key: Partial<ApiKey> = {}): ApiKey => ({
  id: "key_a",
  account_id: "acct_a",
  name: "k",
  scopes: ["get-store", "get-product"],
  budget_credits: 2_000_000_000_000,
  sha256: "0123",
  last4: "wxyz",
  created_at: createdAt,
  revoked_at: null,
  revision: 1,
  ...key
})
const follow = (
  head: ChainHead,
  entry: Omit<Entry, "sequence" | "account_id" | "position" | "balance" | "hash">
): Entry => {
  const position = head.position + 1 // entries of one account only: its places are their numbers
  const placed = { ...entry, account_id: "acct_a", position, balance: head.balance + entry.credits }
  return { ...placed, sequence: position, hash: hashOf(head.hash, placed) }
}
const aGrant = follow(beginning, {
  type: "grant",
  occurred_at: createdAt,
  key_id: null,
  endpoint: null,
  credits: 5000,
  budget_credits: null,
  request_id: null,
  note: "starting balance"
})
/** The entries of a ledger that has seen the grant and then charges alone, made once each. */
const written: Array<Entry> = [aGrant]
const aCharge = (sequence: number): Entry => {
  for (let head = written.at(-1) ?? aGrant; written.length < sequence; head = written.at(-1) ?? head) {
    written.push(
      follow(head, {
        type: "charge",
        occurred_at: createdAt,
        key_id: "key_a",
        endpoint: "/v1/stores",
        credits: -10,
        budget_credits: 2_000_000_000_000,
        request_id: `req_${head.position + 1}`,
        note: null
      })
    )
  }
  return written[sequence - 1] ?? aGrant
}
const birth: Group = { accounts: [anAccount], keys: [aKey()], entries: [aGrant] }
const charges = (...sequences: ReadonlyArray<number>): Group => ({
  accounts: [],
  keys: [],
  entries: sequences.map(aCharge)
})

const bytesOf = (group: Group, journal = 1) => journalGroup.bytesOf(journal, group)

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-ledger-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
const append = (store: LedgerStore, ...groups: ReadonlyArray<Group>) =>
  Effect.forEach(groups, (group) => Effect.tryPromise(() => store.append(group)), { discard: true })
const journalsIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("journal"))
const numbersOf = (store: LedgerStore) =>
  Effect.map(Stream.runCollect(store.entriesOf("acct_a")), (entries) => entries.map((entry) => entry.sequence))

/** The folder as it would be found if the process had been killed after these groups. */
const killedAfter = Effect.fnUntraced(function* (...groups: ReadonlyArray<Group>) {
  const folder = yield* temporaryFolder
  const live = path.join(folder, "live")
  const killed = path.join(folder, "killed")
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* append(yield* embeddedStore(live), ...groups)
      cpSync(live, killed, { recursive: true })
    })
  )
  const [journal] = journalsIn(killed)
  assert.isDefined(journal)
  return { folder: killed, journal: path.join(killed, journal) }
})

/** Opens the ledger for as long as `use` takes. */
const opened = <A, E, R>(folder: string, use: (store: LedgerStore) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(embeddedStore(folder), use))

/** What the log says meanwhile. */
const logged = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const messages: Array<string> = []
  const logger = Logger.make(({ message }) => messages.push(String(message)))
  yield* Effect.provide(effect, Logger.layer([logger]))
  return messages
})

describe("the ledger in a folder", () => {
  it.live("is its owner's alone, in a home that others may read", () =>
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
      yield* opened(folder, (store) => append(store, birth, charges(2, 3)))
      assert.deepStrictEqual(journalsIn(folder), [])
      const snapshot = yield* opened(folder, (store) => store.load)
      assert.deepStrictEqual(snapshot, {
        sequence: 3,
        accounts: [{ account: anAccount, head: { position: 3, balance: 4980, hash: aCharge(3).hash } }],
        keys: [aKey()],
        spending: [{ key_id: "key_a", month: monthOf(Date.parse(createdAt)), spent: 20 }]
      })
      const entries = yield* opened(folder, (store) => Stream.runCollect(store.entriesOf("acct_a")))
      assert.deepStrictEqual(entries, [aGrant, aCharge(2), aCharge(3)])
    })
  )

  it.live("gives back the entries of all accounts in the order of writing, over any number of pages", () =>
    Effect.gen(function* () {
      for (const count of [0, 1, 1_000, 1_001, 2_500]) {
        const folder = yield* temporaryFolder
        const write = author()
        const births = ["acct_a", "acct_b", "acct_c"].map((id) => write(openAccount(id, id, 0))).slice(0, count)
        const more = Array.from({ length: count - births.length }, (_, index) =>
          creditAccount(`acct_${"abc"[(index * 7) % 3]}`, index + 1, "x", index)
        )
        const groups = [...births, write({ entries: more.flatMap(({ entries }) => entries) })]
        const entries = yield* opened(folder, (store) =>
          Effect.andThen(append(store, ...groups), Stream.runCollect(store.allEntries))
        )
        assert.deepStrictEqual(
          entries,
          groups.flatMap((group) => group.entries)
        )
        assert.strictEqual(entries.length, count)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("gives it back after a kill, too", () =>
    Effect.gen(function* () {
      const { folder } = yield* killedAfter(birth, charges(2, 3))
      const snapshot = yield* opened(folder, (store) => store.load)
      assert.strictEqual(snapshot.accounts[0]?.head.balance, 4980)
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1, 2, 3])
    })
  )

  it.effect("takes full journal files up while it runs, and reads across them", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const last = 150
      const read = Effect.gen(function* () {
        const store = yield* embeddedStore(folder, { journalFileSize: 4096 })
        yield* append(store, birth)
        for (let sequence = 2; sequence <= last; sequence++) yield* append(store, charges(sequence))
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
      const written = Effect.flatMap(embeddedStore(folder, { journalFileSize: 4096 }), (store) =>
        append(store, birth, charges(...many), charges(102))
      )
      yield* Effect.scoped(written)
      assert.strictEqual((yield* opened(folder, numbersOf)).length, 102)
    })
  )

  it.effect("keeps the newest state of a key", () =>
    Effect.gen(function* () {
      const revoked = aKey({ name: "new", revoked_at: createdAt, revision: 3 })
      const edits: Group = { accounts: [], keys: [aKey({ name: "new", revision: 2 }), revoked], entries: [] }
      const { folder } = yield* killedAfter(birth, edits)
      assert.deepStrictEqual((yield* opened(folder, (store) => store.load)).keys, [revoked])
    })
  )

  it.effect("is held by one opener at a time", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const second = opened(folder, () => Effect.flip(Effect.scoped(embeddedStore(folder))))
      assert.strictEqual((yield* second)._tag, "LedgerInUse")
      yield* opened(folder, (store) => append(store, birth))
    })
  )

  it.effect("describes every table and column", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* opened(folder, (store) => append(store, birth))
      const db = yield* DuckDb.readWrite(path.join(folder, "ledger.duckdb"))
      const Column = Schema.Struct({ name: Schema.String, comment: Schema.NullOr(Schema.String) })
      const columns = yield* db.all(
        Column,
        `select table_name || '.' || column_name as name, comment from duckdb_columns() where not internal
         union all select table_name, comment from duckdb_tables() where not internal`
      )
      const records = [Account, ApiKey, Entry, UsageRow, SnapshotRow, SnapshotAccount, SnapshotSpending]
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

describe("a group that was not written to its end", () => {
  it.effect("is dropped whole, wherever it was cut, and the log says so", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2), charges(3, 4))
      const whole = readFileSync(journal)
      const groups = Buffer.concat([birth, charges(2), charges(3, 4)].map((group) => bytesOf(group)))
      const lastLength = bytesOf(charges(3, 4)).length
      assert.isTrue(whole.subarray(0, groups.length).equals(groups))
      for (const missing of [1, lastLength / 2, lastLength - 40]) {
        const torn = Buffer.from(whole)
        torn.fill(0, groups.length - Math.floor(missing))
        const copy = path.join(path.dirname(folder), `cut-${missing}`)
        cpSync(folder, copy, { recursive: true })
        writeFileSync(path.join(copy, path.basename(journal)), torn)
        const messages = yield* logged(opened(copy, () => Effect.void))
        assert.match(
          messages.join("\n"),
          /The last group in .*, at byte \d+, was not written to its end and is dropped/
        )
        assert.deepStrictEqual(yield* opened(copy, numbersOf), [1, 2])
      }
    })
  )

  it.effect("is dropped when only its end reached the disk", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2, 3))
      const torn = readFileSync(journal)
      torn.fill(0, bytesOf(birth).length, bytesOf(birth).length + 50)
      writeFileSync(journal, torn)
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1])
    })
  )

  it.effect("makes room for the next one", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const torn = readFileSync(journal)
      torn.fill(0, bytesOf(birth).length + 30)
      writeFileSync(journal, torn)
      yield* opened(folder, (store) => append(store, charges(2, 3)))
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1, 2, 3])
    })
  )
})

describe("journal files that are used again", () => {
  it.effect("never give back what an older file held, wherever the process is killed", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const live = path.join(folder, "live")
      const killed: Array<{ readonly folder: string; readonly last: number }> = []
      const run = Effect.gen(function* () {
        const store = yield* embeddedStore(live, { journalFileSize: 4096 })
        yield* append(store, birth)
        for (let sequence = 2; sequence <= 150; sequence++) {
          yield* append(store, charges(sequence))
          // the first files are taken up before they are needed again
          if (sequence % 10 === 0) yield* Stream.runDrain(store.entriesOf("acct_a"))
          if (sequence > 100 && sequence % 7 === 0) {
            const copy = path.join(folder, `killed-${sequence}`)
            cpSync(live, copy, { recursive: true })
            killed.push({ folder: copy, last: sequence })
          }
        }
      })
      yield* Effect.scoped(run)
      for (const { folder, last } of killed) {
        const numbers = yield* opened(folder, numbersOf)
        assert.deepStrictEqual(
          numbers,
          Array.from({ length: last }, (_, index) => index + 1)
        )
      }
    })
  )

  it.effect("have their rest ignored, even where it is a whole group", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const stale = bytesOf(charges(7), 3)
      writeFileSync(journal, Buffer.concat([bytesOf(birth), bytesOf(charges(2)), stale]))
      assert.deepStrictEqual(yield* logged(opened(folder, () => Effect.void)), [])
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1, 2])
    })
  )
})

describe("damage refuses to open and changes nothing", () => {
  const contentsOf = (folder: string) =>
    readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name))])

  it.effect("where a changed byte is followed by whole groups", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2), charges(3))
      const bytes = readFileSync(journal)
      const at = bytesOf(birth).length
      bytes.write("9", bytes.indexOf('"credits":-10,', at) + 11)
      writeFileSync(journal, bytes)
      const journalBefore = contentsOf(folder).filter(([name]) => String(name).startsWith("journal"))
      const error = yield* Effect.flip(opened(folder, () => Effect.void))
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.include(
        error.message,
        `${journal}: group 2, at byte ${at}, is not what was written, and whole groups follow`
      )
      const journalAfter = contentsOf(folder).filter(([name]) => String(name).startsWith("journal"))
      assert.deepStrictEqual(journalAfter, journalBefore)
    })
  )

  it.effect("where a file that is not the last one ends too early", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const next = path.join(folder, "journal-000002.ndjson")
      writeFileSync(next, bytesOf(charges(3), 2))
      writeFileSync(journal, readFileSync(journal).subarray(0, bytesOf(birth).length + 40))
      const error = yield* Effect.flip(opened(folder, () => Effect.void))
      assert.match(error.message, /group 2, at byte \d+, is not what was written, and later files follow/)
    })
  )

  it.effect("where entries are missing between the database and the journal", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      writeFileSync(journal, bytesOf(charges(4)))
      const error = yield* Effect.flip(opened(folder, () => Effect.void))
      assert.match(error.message, /entry 4 follows entry 0, so entries are missing/)
    })
  )
})

describe("taking a journal up", () => {
  it.effect("adds nothing when the process died before the file was removed", () =>
    Effect.gen(function* () {
      const edits: Group = { accounts: [], keys: [aKey({ name: "edited", revision: 2 })], entries: [] }
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const bytes = readFileSync(journal)
      yield* opened(folder, (store) => append(store, edits, charges(3)))
      writeFileSync(journal, bytes)
      const snapshot = yield* opened(folder, (store) => store.load)
      assert.strictEqual(snapshot.sequence, 3)
      assert.strictEqual(snapshot.accounts.length, 1)
      assert.deepStrictEqual(snapshot.keys, [aKey({ name: "edited", revision: 2 })])
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1, 2, 3])
    })
  )

  it.effect("takes up the rest of a file whose beginning is known", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      yield* opened(folder, () => Effect.void)
      writeFileSync(journal, Buffer.concat([birth, charges(2), charges(3)].map((group) => bytesOf(group))))
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1, 2, 3])
    })
  )
})

describe("a disk that takes nothing", () => {
  it.effect("rejects the group, and takes the same numbers when it works again", () =>
    Effect.gen(function* () {
      const folder = path.join(yield* temporaryFolder, "ledger")
      const refused = opened(folder, (store) =>
        Effect.gen(function* () {
          rmSync(folder, { recursive: true })
          const error = yield* Effect.flip(Effect.tryPromise({ try: () => store.append(birth), catch: String }))
          mkdirSync(folder)
          yield* append(store, birth, charges(2))
          cpSync(folder, `${folder}-killed`, { recursive: true })
          return error
        })
      )
      assert.match(yield* refused, /The ledger cannot be written: ENOENT/)
      assert.deepStrictEqual(yield* opened(`${folder}-killed`, numbersOf), [1, 2])
    })
  )
})
