import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { compareWithRecords } from "./record-checks.ts"
import { recordedTables } from "./recorded-tables.ts"

it("records and rows are joined through indexes in SQLite, not in a nested loop over all pairs", () => {
  using sqlite = new DatabaseSync(":memory:")
  sqlite.exec(
    "attach ':memory:' as ledger; create table ledger.record (number integer primary key, kind text, body text)"
  )
  for (const table of recordedTables) sqlite.exec(`create table ledger.${table} (id text primary key)`)
  const checks = compareWithRecords({
    asJson: (body) => body,
    pairs: "json_each",
    selectRows: (table) => `select id, json_object('id', id) as body from ledger.${table}`
  })
  for (const check of checks) {
    const plan = sqlite.prepare(`explain query plan ${check}`).all()
    const joins = plan.map(({ detail }) => String(detail)).filter((detail) => detail.includes("LEFT-JOIN"))
    assert.strictEqual(joins.length, 2)
    for (const join of joins) assert.match(join, /^SEARCH .* USING AUTOMATIC/)
  }
})
