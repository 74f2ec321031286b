import path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  author,
  inDatabase,
  load,
  opened,
  readDatabase,
  refusal,
  sampleCopy,
  sampleGroups,
  takeSnapshot,
  temporaryFolder,
  written
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect, Exit, Scope } from "effect"
import { hashOf } from "../chain.ts"
import type { Decision } from "../decisions.ts"
import { openDatabase } from "./ledger-database.ts"
import { checkSinceSnapshot, readState } from "./opening.ts"

const coveredNow = "select sequence::integer as n from snapshot"

const plainCopy = sampleCopy({ withSnapshot: false })
const snapshottedCopy = sampleCopy({ withSnapshot: true })

describe("a start", () => {
  it.live("reads the same state from a snapshot as from the beginning", () =>
    Effect.gen(function* () {
      const fromTheBeginning = yield* load(yield* plainCopy)
      const fromTheSnapshot = yield* load(yield* snapshottedCopy)
      const ordered = (state: typeof fromTheSnapshot) => ({
        ...state,
        spending: state.spending.toSorted((a, b) => a.month - b.month || a.key_id.localeCompare(b.key_id))
      })
      assert.deepStrictEqual(ordered(fromTheSnapshot), ordered(fromTheBeginning))
      assert.strictEqual(fromTheSnapshot.spending.length, 6)
    }).pipe(Effect.scoped)
  )

  it.live("reads no entry before the snapshot, and renews it from itself and the entries since", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      yield* written(folder, groups.slice(0, 30))
      yield* takeSnapshot(folder)
      yield* inDatabase(folder, "update entry set note = 'nobody reads this at a start' where sequence = 5")
      yield* written(folder, groups.slice(30))
      yield* takeSnapshot(folder)
      assert.deepStrictEqual(yield* readDatabase(folder, coveredNow), [{ n: 62 }])
      assert.strictEqual((yield* load(folder)).sequence, 62)
    }).pipe(Effect.scoped)
  )

  it.live("renews the snapshot in the background once enough entries have come", () =>
    Effect.gen(function* () {
      const folder = yield* plainCopy
      yield* opened(folder, () => Effect.void, { entriesBetweenSnapshots: 63 })
      assert.deepStrictEqual(yield* readDatabase(folder, coveredNow), [])
      const look = Effect.gen(function* () {
        yield* opened(folder, () => Effect.sleep("20 millis"), { entriesBetweenSnapshots: 62 })
        return yield* readDatabase(folder, coveredNow)
      })
      assert.deepStrictEqual(yield* Effect.repeat(look, { until: (rows) => rows.length > 0 }), [{ n: 62 }])
    }).pipe(Effect.scoped)
  )

  it.live("keeps the old snapshot when the entries since are damaged", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      yield* written(folder, groups.slice(0, 30))
      yield* takeSnapshot(folder)
      yield* written(folder, groups.slice(30))
      yield* inDatabase(folder, "update entry set note = 'x' where sequence = 33")
      const problems = yield* takeSnapshot(folder)
      assert.match(problems[0] ?? "", /\(number 33\) is not what was written: its hash is another one/)
      assert.deepStrictEqual(yield* readDatabase(folder, coveredNow), [{ n: 29 }])
    }).pipe(Effect.scoped)
  )
})

/** What a start reads of a ledger, in the database of a copy that a file of tests opens once. */
const startOf = (copy: typeof plainCopy) => {
  const scope = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const opened = Effect.runSync(
    Effect.cached(
      Scope.provide(
        Effect.flatMap(copy, (folder) => openDatabase(path.join(folder, "ledger.duckdb"))),
        scope
      )
    )
  )
  /** Damages it, reads it, and takes the damage back. */
  return Effect.fnUntraced(function* (sql: string, problem: RegExp) {
    const { file, use } = yield* opened
    const error = yield* use((db) =>
      Effect.gen(function* () {
        yield* db.run(`begin; ${sql}`)
        const read = Effect.flatMap(checkSinceSnapshot(db, file), (reached) => readState(db, file, reached))
        return yield* Effect.flip(read).pipe(Effect.ensuring(Effect.orDie(db.run("rollback"))))
      })
    )
    assert.strictEqual(error._tag, "LedgerDamaged")
    assert.match(error.message, problem)
    assert.include(error.message, file)
  })
}

describe("a start with damaged entries", () => {
  const refuses = startOf(plainCopy)
  it.live.each([
    [
      "update entry set credits = -5 where sequence = 6",
      /entry 4 of account acct_a \(number 6\) says that the balance is 4970 credits, and the entries before it say 4975/
    ],
    [
      "update entry set balance = 4000 where sequence = 6",
      /entry 4 of account acct_a \(number 6\) says that the balance is 4000 credits/
    ],
    [
      "update entry set hash = upper(hash) where sequence = 6",
      /entry 4 of account acct_a \(number 6\) is not what was written/
    ],
    [
      "update entry set endpoint = '/v1/storez' where sequence = 6",
      /entry 4 of account acct_a \(number 6\) is not what was written/
    ],
    [
      "update entry set type = 'gift' where sequence = 6",
      /entry 4 of account acct_a \(number 6\) is not what was written/
    ],
    [
      "update entry set occurred_at = occurred_at + interval 1 millisecond where sequence = 6",
      /number 6\) is not what was written/
    ],
    ["update entry set budget_credits = 9000 where sequence = 6", /number 6\) is not what was written/],
    ["update entry set request_id = 'req_7' where sequence = 6", /number 6\) is not what was written/],
    ["delete from entry where sequence = 6", /entry 7 follows entry 5, so entries are missing/],
    ["delete from entry where sequence = 1", /entry 2 follows entry 0, so entries are missing/],
    [
      "delete from entry where sequence = 6; update entry set sequence = sequence - 1 where sequence > 6",
      /entry 5 of account acct_a \(number 7\) does not follow an entry 4, so entries are missing/
    ],
    [
      "insert into entry select * replace (63 as sequence) from entry where sequence = 6",
      /entry 4 of account acct_a is there 2 times/
    ],
    ["insert into entry select * from entry where sequence = 6", /entry 6 is there twice/],
    [
      "update entry set sequence = case sequence when 5 then 6 when 6 then 5 else sequence end",
      /entry 4 of account acct_a \(number 5\) stands before entry 3/
    ],
    [
      "update entry set account_id = 'acct_c' where sequence = 6",
      /entry 4 of account acct_c \(number 6\) is of an account that is not there/
    ],
    [
      "update entry set credits = 9223372036854775807 where sequence = 6",
      /number 6\) says that the balance is 4970 credits, and the entries before it say/
    ],
    [
      "delete from api_key where id = 'key_b'",
      /entry 2 of account acct_b was charged to key key_b, which is no key of this account/
    ],
    [
      "update api_key set account_id = 'acct_b' where id = 'key_c'",
      /was charged to key key_c, which is no key of this account/
    ],
    [
      "delete from account where id = 'acct_b'",
      /entry 1 of account acct_b \(number 2\) is of an account that is not there/
    ],
    ["insert into account from account where id = 'acct_b'", /there/],
    ["insert into api_key from api_key where id = 'key_b'", /key key_b is there 2 times/],
    [
      "update api_key set scopes = ['everything'] where id = 'key_b'",
      /key key_b cannot be read: Expected .* at \["scopes"\]\[0\]/
    ]
  ] as const)("refuses the ledger after: %s", ([sql, problem]) => refuses(sql, problem))

  it.live("serves nothing of such a ledger, and names its file in the error", () =>
    Effect.gen(function* () {
      const folder = yield* plainCopy
      yield* inDatabase(folder, "delete from entry where sequence = 6")
      const error = yield* refusal(folder)
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.match(error.message, /entry 7 follows entry 5, so entries are missing/)
      assert.include(error.message, path.join(folder, "ledger.duckdb"))
    }).pipe(Effect.scoped)
  )

  const grown = (...decisions: ReadonlyArray<Partial<Decision>>) => {
    const write = author()
    return [...sampleGroups(write), ...decisions.map(write)]
  }

  it.live("refuses charges above the highest budget of their month", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const inNovember = { occurred_at: "2026-11-01T00:00:00.000Z", budget_credits: 900 }
      yield* written(folder, grown({ entries: [aCharge("req_63", { ...inNovember, credits: -870 })] }))
      yield* takeSnapshot(folder)
      assert.strictEqual((yield* load(folder)).sequence, 63)
      const more = grown(
        { entries: [aCharge("req_63", { ...inNovember, credits: -870 })] },
        { entries: [aCharge("req_64", { ...inNovember, credits: -100 })] }
      )
      yield* written(folder, more.slice(-1))
      const error = yield* refusal(folder)
      assert.match(
        error.message,
        /key key_a was charged 1010 credits in 2026-11, and the highest budget of these charges is 1000/
      )
    }).pipe(Effect.scoped)
  )

  it.live("refuses an entry whose balance does not add up, although its hash is right", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const [last, ...before] = sampleGroups().toReversed()
      const [entry] = last?.entries ?? []
      const [previous] = before.flatMap(({ entries }) => entries).filter(({ account_id }) => account_id === "acct_a")
      assert.isDefined(entry)
      assert.isDefined(previous)
      const wrong = { ...entry, balance: entry.balance + 1 }
      const group = { accounts: [], keys: [], entries: [{ ...wrong, hash: hashOf(previous.hash, wrong) }] }
      yield* written(folder, [...before.toReversed(), group])
      const error = yield* refusal(folder)
      assert.match(error.message, /says that the balance is 4601 credits, and the entries before it say 4600/)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a charge that overdraws the balance", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const overdrawn = aCharge("req_63", { credits: -4_701, budget_credits: 9_000, account_id: "acct_a" })
      yield* written(folder, grown({ entries: [{ ...overdrawn, credits: -4_601 }] }))
      const error = yield* refusal(folder)
      assert.match(error.message, /entry 42 of account acct_a \(number 63\) leaves a balance of -1 credits/)
    }).pipe(Effect.scoped)
  )
})

describe("a start with a damaged snapshot", () => {
  const refuses = startOf(snapshottedCopy)
  it.live.each([
    ["update snapshot_account set balance = balance + 1 where account_id = 'acct_a'", /its digest is another one/],
    ["update snapshot_account set hash = md5('') where account_id = 'acct_a'", /its digest is another one/],
    ["delete from snapshot_account where account_id = 'acct_a'", /its digest is another one/],
    ["update snapshot_spending set spent = 0", /its digest is another one/],
    ["update snapshot_spending set budget = budget + 1", /its digest is another one/],
    ["update snapshot set sequence = 61", /its digest is another one/],
    ["delete from snapshot", /the snapshot is missing, and its accounts are there/],
    ["insert into snapshot from snapshot", /there are 2 snapshots/],
    ["delete from entry where sequence = 62", /the snapshot covers entry 62, and the last entry is 61/],
    ["delete from account where id = 'acct_b'", /key key_b belongs to account acct_b, which is not there/],
    ["delete from api_key where id = 'key_b'", /key key_b was charged, and is not there/]
  ] as const)("refuses the ledger after: %s", ([sql, problem]) => refuses(sql, problem))

  it.live("serves nothing of such a ledger", () =>
    Effect.gen(function* () {
      const folder = yield* snapshottedCopy
      yield* inDatabase(folder, "update snapshot set sequence = 61")
      const error = yield* refusal(folder)
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.match(error.message, /its digest is another one/)
    }).pipe(Effect.scoped)
  )
})
