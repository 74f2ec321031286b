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
      "1 feed of storefronts read only in part; everything else was published."
    )
    assert.strictEqual(
      firstLineOf(leaveOut("a"), leaveOut("b"), leaveOut("c", "partial")),
      "2 feeds of storefronts left out, 1 read only in part; everything else was published."
    )
  })

  it("names a part that is left out, with its share", () => {
    const reason = "21 of 40 rows were rejected (52.5 %), most often because close_price is empty."
    const left_out = [{ feed: "gov-mars/1603", kind: "partial", reason } as const]
    assert.strictEqual(
      leftOutError(makeResult({ feeds: 39, left_out }), false)?.message,
      `1 feed of storefronts read only in part; everything else was published.\ngov-mars/1603: ${reason}`
    )
  })

  it.each([
    [1, "1 feed left out in part, as in an earlier run: a"],
    [3, "3 feeds left out in part, as in an earlier run: a, b, c"],
    [5, "5 feeds left out in part, as in an earlier run: a, b, c and 2 more"]
  ])("names parts that an earlier run left out, too, in one line: %i", (count, line) => {
    const left_out = ["a", "b", "c", "d", "e"]
      .slice(0, count)
      .map((feed) => ({ ...leaveOut(feed, "partial"), is_known: true }))
    assert.strictEqual(formatSummary(makeResult({ left_out }), false).split("\n")[2], `  ${line}`)
  })

  it("leaves parts with new rejects to the error", () => {
    const left_out = [
      { ...leaveOut("a", "partial"), is_known: true },
      { ...leaveOut("b", "partial"), is_known: false }
    ]
    assert.strictEqual(formatSummary(makeResult({ left_out }), false).split("\n").length, 2)
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
      "everything else was published"
    ],
    [
      "one of three, which was read in part, in a dry run",
      { feeds: 3, left_out: [leaveOut("a", "partial")] },
      true,
      "everything else would be published"
    ],
    [
      "one of three, which was read in part, without anything new",
      { feeds: 3, left_out: [leaveOut("a", "partial")], changes: false },
      false,
      "nothing else was new"
    ],
    [
      "one store without anything new",
      { left_out: [leaveOut("a")], changes: false },
      false,
      "what was received was not new"
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
