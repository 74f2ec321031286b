import { cpSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { onceForFile } from "@larder/test/support/once-for-file.ts"
import {
  aCharge,
  aKey,
  author,
  load,
  readDatabase,
  refusal,
  sampleGroups,
  temporaryFolder,
  written
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import { openAccount } from "../decisions.ts"
import { bytesOf } from "./journal-group.ts"

describe("a start with a journal", () => {
  const firstTwenty = onceForFile(Effect.tap(temporaryFolder, (folder) => written(folder, sampleGroups().slice(0, 20))))
  /** What the process had left if it had been killed with these groups in the journal. */
  const withJournal = Effect.fnUntraced(function* (spoil: (groups: ReturnType<typeof sampleGroups>) => typeof groups) {
    const folder = yield* temporaryFolder
    cpSync(yield* firstTwenty, folder, { recursive: true })
    const journal = path.join(folder, "journal-000001.ndjson")
    writeFileSync(journal, Buffer.concat(spoil(sampleGroups().slice(20)).map((group) => bytesOf(1, group))))
    return { folder, journal }
  })
  const firstEntry = (change: object) => (groups: ReturnType<typeof sampleGroups>) =>
    groups.map((group, index) =>
      index === 1 ? { ...group, entries: group.entries.map((entry) => ({ ...entry, ...change })) } : group
    )

  it.live.each([
    ["a changed note", firstEntry({ note: "x" }), /entry 14 of account acct_a is not what was written/],
    [
      "another price",
      firstEntry({ credits: -1 }),
      /entry 14 of account acct_a says that the balance is 4870 credits, and the entries before it say 4879/
    ],
    [
      "a missing position",
      firstEntry({ position: 15 }),
      /entry 15 of account acct_a follows its entry 13, so entries are missing/
    ],
    ["a negative balance", firstEntry({ balance: -1 }), /entry 14 of account acct_a leaves a balance of -1 credits/],
    [
      "an unknown account",
      firstEntry({ account_id: "acct_c" }),
      /entry 14 of account acct_c is of an account that is not there/
    ]
  ] as const)("refuses a journal that does not follow the database: %s", ([, spoil, problem]) =>
    Effect.gen(function* () {
      const { folder, journal } = yield* withJournal(spoil)
      const error = yield* refusal(folder)
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.match(error.message, problem)
      assert.include(error.message, journal)
      assert.deepStrictEqual(yield* readDatabase(folder, "select max(sequence)::integer as n from entry"), [{ n: 19 }])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a changed entry of an account that is only in the journal", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* withJournal((groups) => {
        const write = author()
        sampleGroups(write)
        const birth = write(openAccount("acct_c", "C", 0))
        const first = write({
          keys: [aKey("key_d", "acct_c")],
          entries: [aCharge("req_64", { account_id: "acct_c", key_id: "key_d" })]
        })
        const spoilt = { ...first, entries: first.entries.map((entry) => ({ ...entry, request_id: "req_65" })) }
        return [...groups, birth, spoilt]
      })
      const error = yield* refusal(folder)
      assert.include(error.message, `${journal}: entry 2 of account acct_c is not what was written`)
    }).pipe(Effect.scoped)
  )

  it.live("takes a journal that follows the database", () =>
    Effect.gen(function* () {
      const { folder } = yield* withJournal((groups) => groups)
      const state = yield* load(folder)
      assert.deepStrictEqual([state.sequence, state.accounts.map(({ head }) => head.balance)], [62, [4600, 4800]])
    }).pipe(Effect.scoped)
  )
})
