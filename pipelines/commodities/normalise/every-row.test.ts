/** Rules for every row of every payload. */
import { assert, describe, it } from "@effect/vitest"
import {
  aBlockRow,
  blocks,
  everyFeed,
  type Row,
  readBody,
  readRows
} from "@larder/test/support/pipelines/commodity-payloads.ts"
import fc from "fast-check"
import { catalog } from "../catalog.ts"

const { feeds } = catalog()

/** Two rows of one publication may contradict each other, and then none is read. */
const stampOf = (row: Row | number) => (typeof row === "number" ? row : row.published_date)

describe("every row", () => {
  it("has exactly one result: read = stated + skipped + rejected", () => {
    const cell = fc.constantFrom<unknown>("1.6140", null, "", "N/A", "see note", 0, "2")
    const day = fc.constantFrom<unknown>("08/29/2026", "09/05/2026", null, "someday")
    const row = fc.oneof(
      {
        weight: 9,
        arbitrary: fc.record({ cell, day, second: fc.nat(59) }).map(({ cell, day, second }) =>
          aBlockRow({
            cheese_40_Price: cell,
            "Week Ending Date": day,
            slug_id: second === 0 ? true : "2993",
            published_date: `10/07/2026 13:04:${String(second).padStart(2, "0")}`
          })
        )
      },
      { weight: 1, arbitrary: fc.constant(7) }
    )
    fc.assert(
      fc.property(fc.uniqueArray(row, { maxLength: 12, selector: stampOf }), (rows) => {
        const { readings, rejects, rows_read, rows_skipped } = readRows(blocks, [aBlockRow(), ...rows])
        const stated = new Set(readings.map(({ source_row }) => source_row)).size
        assert.strictEqual(rows_read, rows.length + 1)
        assert.strictEqual(stated + rows_skipped + rejects.length, rows_read)
      })
    )
  })

  it("is read from the smallest payload of every feed", () => {
    const bodies = everyFeed()
    for (const feed of feeds) {
      const { metrics_without_rows, readings, rejects, rows_skipped, unknown_fields } = readBody(
        feed,
        bodies[feed.feed] ?? ""
      )
      assert.isNotEmpty(readings, feed.feed)
      assert.deepStrictEqual(
        { metrics_without_rows, rejects, rows_skipped, unknown_fields },
        { metrics_without_rows: [], rejects: [], rows_skipped: 0, unknown_fields: [] }
      )
    }
  })
})
