import { assert, describe, it } from "@effect/vitest"
import { aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import type { IngestResult } from "./read-and-publish.ts"
import { formatResultJson, formatSummary, leftOutError } from "./summary.ts"

const leaveOut = (feed: string, kind: "untrusted" | "unreachable" | "partial" = "unreachable") => ({
  feed,
  kind,
  reason: "away"
})
const makeResult = (fields: Partial<IngestResult>): IngestResult => ({
  run: aRun({
    pipeline: "storefronts",
    generation: "larder-000001",
    rows_read: 5,
    rows_loaded: 3,
    rows_unchanged: 1,
    rows_rejected: 1
  }),
  checks: [],
  changes: true,
  feeds: 1,
  left_out: [],
  all_failed: false,
  ...fields
})

describe("the summary of a run", () => {
  it("counts rows with nothing new separately", () => {
    assert.strictEqual(
      formatSummary(makeResult({}), false),
      "storefronts: published larder-000001\n  5 rows read: 3 new, 1 with nothing new, 1 rejected"
    )
  })

  it.each([
    [true, "dry run: nothing was published; a run would publish a new generation"],
    [false, "dry run: nothing was published; a run would publish nothing, because nothing is new"]
  ])("reports that a dry run published nothing (changes: %s)", (changes, line) => {
    assert.include(formatSummary(makeResult({ changes }), true), `storefronts: ${line}\n`)
  })

  it("has its own outcome with --json for a dry run that would publish", () => {
    const outcomeOf = (dryRun: boolean): unknown => JSON.parse(formatResultJson(makeResult({}), dryRun)).outcome
    assert.deepStrictEqual([outcomeOf(false), outcomeOf(true)], ["published", "would_publish"])
  })

  it("distinguishes partly read feeds from those that were left out", () => {
    const firstLineOf = (...left_out: IngestResult["left_out"]) =>
      leftOutError(makeResult({ feeds: 4, left_out }), false)?.message.split("\n")[0]
    assert.strictEqual(
      firstLineOf(leaveOut("a", "partial")),
      "1 feed of storefronts read only in part; the others were published."
    )
    assert.strictEqual(
      firstLineOf(leaveOut("a"), leaveOut("b"), leaveOut("c", "partial")),
      "2 feeds of storefronts left out, 1 read only in part; the other was published."
    )
  })

  it.each<readonly [string, Partial<IngestResult>, boolean, string]>([
    ["one store that failed", { left_out: [leaveOut("a")], all_failed: true }, false, "no row of it changes"],
    [
      "all stores, which failed",
      { feeds: 2, left_out: [leaveOut("a"), leaveOut("b")], all_failed: true },
      false,
      "none could be read"
    ],
    [
      "one store, which was read in part",
      { left_out: [leaveOut("a", "partial")] },
      false,
      "what was received was published"
    ],
    ["one of two", { feeds: 2, left_out: [leaveOut("a")] }, false, "the other was published"],
    ["one of three", { feeds: 3, left_out: [leaveOut("a")] }, false, "the others were published"],
    ["one of three in a dry run", { feeds: 3, left_out: [leaveOut("a")] }, true, "the others would be published"],
    [
      "one of three without anything new",
      { feeds: 3, left_out: [leaveOut("a")], changes: false },
      false,
      "the others had nothing new"
    ]
  ])("describes the other feeds: %s", (_, fields, dryRun, rest) => {
    const error = leftOutError(makeResult(fields), dryRun)
    assert.include(error?.message ?? "", `; ${rest}.\n`)
  })
})
