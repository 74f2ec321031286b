import { existsSync, writeFileSync } from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  load,
  makeWriter,
  refusal,
  runInDatabase,
  sampleCopy,
  sampleGroups,
  temporaryFolder,
  updateDerivedTables,
  useStore,
  writeGroups
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { hashEntry } from "../chain/chain.ts"
import { hold } from "../rules/admission.ts"
import type { Decision } from "../rules/decisions.ts"
import { restoreState } from "../rules/ledger-state.ts"
import { openAccount } from "../rules/open-account.ts"
import { ledgerPath } from "./ledger-file.ts"

const plainCopy = sampleCopy({ hasDerivedTables: false })
const followedCopy = sampleCopy({ hasDerivedTables: true })

const loadAt = (folder: string, day: string) => Effect.andThen(TestClock.setTime(Date.parse(day)), load(folder))

describe("a start", () => {
  it.effect("reads the same state whether the tables include all entries or none", () =>
    Effect.gen(function* () {
      const plain = yield* loadAt(yield* plainCopy, "2026-11-15")
      const followed = yield* loadAt(yield* followedCopy, "2026-11-15")
      const sortSpending = ({ stored: _, ...state }: typeof plain) => ({
        ...state,
        spending: state.spending.toSorted((a, b) => a.month - b.month || a.key_id.localeCompare(b.key_id))
      })
      assert.deepStrictEqual(sortSpending(followed), sortSpending(plain))
      assert.strictEqual(followed.spending.length, 6)
    }).pipe(Effect.scoped)
  )

  it.live("reads the head of an account whose last entry is older than all that it checks", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const write = makeWriter()
      const idle = write(openAccount("acct_idle", "Idle", 0))
      const calls = Array.from({ length: 50_000 }, (_, number) => aCharge(`req_more_${number}`, { credits: 0 }))
      yield* writeGroups(folder, [idle, ...sampleGroups(write), write({ entries: calls })])
      const [grant] = idle.entries
      assert.isDefined(grant)
      const { balance, hash, position } = grant
      const { accounts } = yield* load(folder)
      assert.deepStrictEqual(accounts[0]?.head, { position, balance, hash })
      assert.strictEqual(accounts[1]?.head.position, 41 + calls.length)
    }).pipe(Effect.scoped)
  )

  it.effect("reads what keys have spent in older months if the clock was set back", () =>
    Effect.gen(function* () {
      for (const copy of [plainCopy, followedCopy]) {
        yield* TestClock.setTime(Date.parse("2027-06-01"))
        yield* useStore(yield* copy, (store) =>
          Effect.gen(function* () {
            const loaded = yield* store.load
            assert.isEmpty(loaded.spending)
            const state = restoreState(loaded)
            const time = Date.parse("2026-10-31T12:00:00.000Z")
            assert.deepStrictEqual(hold(state, "key_a", "/v1/stores", 841, time), {
              refused: "monthly_spend_cap_reached"
            })
            assert.property(hold(state, "key_a", "/v1/stores", 840, time), "hold")
          })
        )
      }
    }).pipe(Effect.scoped)
  )
})

/** Damages a copy, and returns why a start refuses it. */
const refusalAfter = Effect.fnUntraced(function* (copy: typeof plainCopy, sql: string) {
  const folder = yield* copy
  yield* runInDatabase(folder, `pragma foreign_keys = off; ${sql}`)
  const error = yield* refusal(folder)
  assert.strictEqual(error._tag, "LedgerDamaged")
  assert.include(error.message, ledgerPath(folder))
  return error.message
})

describe("a start with chains that begin at a stored head", () => {
  it.live("continues them, also for an account without later entries", () =>
    Effect.gen(function* () {
      const write = makeWriter()
      const groups = [write(openAccount("acct_idle", "Idle", 0)), ...sampleGroups(write)]
      for (const hasDerivedTables of [false, true]) {
        const folder = yield* temporaryFolder
        yield* writeGroups(folder, groups)
        if (hasDerivedTables) yield* updateDerivedTables(folder)
        const readHeads = Effect.map(load(folder), ({ accounts }) => accounts.map(({ head }) => head.hash))
        const before = yield* readHeads
        yield* runInDatabase(
          folder,
          `insert into chain_start select account_id, max(position), balance, hash from entry where sequence <= 51 group by 1;
          delete from entry where sequence <= 51; delete from entry_place where sequence <= 51`
        )
        assert.deepStrictEqual(yield* readHeads, before)
        const write = makeWriter()
        for (const { accounts, entries, keys } of groups) write({ accounts, entries, keys })
        yield* writeGroups(folder, [write({ entries: [aCharge("req_more")] })])
        assert.notDeepEqual(yield* readHeads, before)
        const copy = path.join(yield* temporaryFolder, "copy.sqlite")
        assert.strictEqual((yield* useStore(folder, (store) => store.backup(copy))).entries, 13)
      }
    }).pipe(Effect.scoped)
  )

  it.live("refuses the ledger if one does not follow its head", () =>
    Effect.gen(function* () {
      const problem = yield* refusalAfter(
        plainCopy,
        `insert into chain_start select account_id, max(position), balance + 1, hash from entry where sequence <= 50 group by 1;
        delete from entry where sequence <= 50`
      )
      assert.match(problem, /entry 34 of account acct_a has a balance of 4670 credits/)
    }).pipe(Effect.scoped)
  )
})

describe("a start with damaged entries", () => {
  it.live.each([
    [
      "update entry set credits = -5 where sequence = 6",
      /entry 4 of account acct_a has a balance of 4970 credits, but the entries up to it add up to 4975/
    ],
    ["update entry set balance = 4000 where sequence = 6", /entry 4 of account acct_a has a balance of 4000 credits/],
    ["update entry set hash = upper(hash) where sequence = 6", /entry 4 of account acct_a is not what was written/],
    [
      "update entry set endpoint = '/v1/storez' where sequence = 6",
      /entry 4 of account acct_a is not what was written/
    ],
    ["update entry set type = 'gift' where sequence = 6", /entry 4 of account acct_a is not what was written/],
    [
      "update entry set occurred_at = '2026-10-30T04:00:00.001Z' where sequence = 6",
      /entry 4 of account acct_a is not what was written/
    ],
    ["update entry set budget_credits = 9000 where sequence = 6", /entry 4 of account acct_a is not what was written/],
    ["update entry set request_id = 'req_7' where sequence = 6", /entry 4 of account acct_a is not what was written/],
    ["delete from entry where sequence = 6", /entry 7 follows entry 5, so entries are missing/],
    ["delete from entry where sequence = 1", /entry 2 follows entry 0, so entries are missing/],
    [
      "update entry set sequence = 100 where sequence = 6; update entry set sequence = 6 where sequence = 8; update entry set sequence = 8 where sequence = 100",
      /entry 5 of account acct_a follows its entry 3, so entries are missing/
    ],
    [
      "update entry set account_id = 'acct_b' where sequence = 6",
      /entry 4 of account acct_b names key key_., which is not a key of this account/
    ],
    [
      "delete from api_key where id = 'key_b'",
      /entry 2 of account acct_b names key key_b, which is not a key of this account/
    ],
    [
      "update api_key set account_id = 'acct_b' where id = 'key_c'",
      /names key key_c, which is not a key of this account/
    ],
    ["delete from account where id = 'acct_b'", /key key_b belongs to account acct_b, which is missing/],
    [`update api_key set scopes = '[1]' where id = 'key_b'`, /key key_b cannot be read: its scopes are \[1\]/]
  ] as const)("refuses the ledger after: %s", ([sql, problem]) =>
    Effect.gen(function* () {
      assert.match(yield* refusalAfter(plainCopy, sql), problem)
      assert.match(yield* refusalAfter(followedCopy, sql), problem)
    }).pipe(Effect.scoped)
  )

  const extendSample = (...decisions: ReadonlyArray<Partial<Decision>>) => {
    const write = makeWriter()
    return [...sampleGroups(write), ...decisions.map(write)]
  }

  it.live("refuses charges above the highest budget of their month", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const novemberCharge = { occurred_at: "2026-11-01T00:00:00.000Z", budget_credits: 900 }
      const groups = extendSample(
        { entries: [aCharge("req_63", { ...novemberCharge, credits: -870 })] },
        { entries: [aCharge("req_64", { ...novemberCharge, credits: -100 })] }
      )
      yield* writeGroups(folder, groups.slice(0, -1))
      assert.strictEqual((yield* load(folder)).sequence, 63)
      yield* writeGroups(folder, groups.slice(-1))
      assert.match(
        (yield* refusal(folder)).message,
        /key key_a was charged 1010 credits in 2026-11, but the highest budget of these charges is 1000/
      )
    }).pipe(Effect.scoped)
  )

  it.live("refuses an entry with a wrong balance, even if its hash is correct", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const [last, ...before] = sampleGroups().toReversed()
      const [entry] = last?.entries ?? []
      const [previous] = before.flatMap(({ entries }) => entries).filter(({ account_id }) => account_id === "acct_a")
      assert.isDefined(entry)
      assert.isDefined(previous)
      const wrong = { ...entry, balance: entry.balance + 1 }
      const group = { accounts: [], keys: [], entries: [{ ...wrong, hash: hashEntry(previous.hash, wrong) }] }
      yield* writeGroups(folder, [...before.toReversed(), group])
      assert.match(
        (yield* refusal(folder)).message,
        /has a balance of 4601 credits, but the entries up to it add up to 4600/
      )
    }).pipe(Effect.scoped)
  )

  it.live("refuses a charge that overdraws the balance", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* writeGroups(
        folder,
        extendSample({ entries: [aCharge("req_63", { credits: -4_601, budget_credits: 9_000 })] })
      )
      assert.match((yield* refusal(folder)).message, /entry 42 of account acct_a leaves a balance of -1 credits/)
    }).pipe(Effect.scoped)
  )
})

describe("a start with tables that do not match the entries", () => {
  it.live.each([
    [
      "delete from entry_place where account_id = 'acct_a' and position > 40",
      /account acct_a is at its entry 40, and its entries reach 41/
    ],
    [
      "update entry_place set sequence = 2 where account_id = 'acct_a' and position = 41",
      /the last entry of account acct_a is missing/
    ],
    [
      "delete from entry where sequence = 62",
      /entries were summed up to number 62, which is missing or different; the last entry is 61/
    ],
    ["update progress set sequence = 70", /entries were summed up to number 70, which is missing or different/],
    ["update usage_of_month set key_id = 'key_x' where key_id = 'key_b'", /key key_x was charged, but is missing/]
  ] as const)("refuses the ledger after: %s", ([sql, problem]) =>
    Effect.gen(function* () {
      assert.match(yield* refusalAfter(followedCopy, sql), problem)
    }).pipe(Effect.scoped)
  )
})

describe("a folder that contains something else", () => {
  it.live.each([
    ["ledger.duckdb", "", /ledger\.duckdb: an earlier version of Larder has written it/],
    ["journal-000001.ndjson", "", /journal-000001\.ndjson: an earlier version of Larder has written it/]
  ] as const)("is refused and left unchanged: %s", ([name, contents, problem]) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      writeFileSync(path.join(folder, name), contents)
      const error = yield* refusal(folder)
      assert.match(error.message, problem)
      assert.isFalse(existsSync(ledgerPath(folder)))
    }).pipe(Effect.scoped)
  )

  it.live("is refused if the file is from another program or another version, or is not a database", () =>
    Effect.gen(function* () {
      const findRefusal = Effect.fnUntraced(function* (make: (file: string) => void) {
        const folder = yield* temporaryFolder
        make(ledgerPath(folder))
        return (yield* refusal(folder)).message
      })
      const sqlite = (sql: string) => (file: string) => {
        const db = new DatabaseSync(file)
        db.exec(sql)
        db.close()
      }
      assert.match(yield* findRefusal(sqlite("create table t (a)")), /it is a SQLite file of another program/)
      assert.match(yield* findRefusal(sqlite("pragma user_version = 99")), /a newer version of Larder has written it/)
      assert.match(yield* findRefusal(sqlite("pragma user_version = 2")), /an earlier version of Larder has written it/)
      assert.match(yield* findRefusal((file) => writeFileSync(file, "x".repeat(5_000))), /file is not a database/)
    }).pipe(Effect.scoped)
  )
})
