import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { FeedLeftOut, RunRecord } from "@larder/schemas"
import { type Layout, layoutOf, recordFailedRun } from "@larder/warehouse"
import { Effect } from "effect"
import { inject } from "vitest"
import { run } from "../support/programs.ts"
import { aRun } from "../support/warehouse/example-data-set.ts"
import { publishReads } from "../support/warehouse/store-reads.ts"

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
const read = (pipeline: string, stated: Partial<RunRecord> = {}) =>
  aRun({ pipeline, origin: "live", outcome: "unchanged", rows_read: 9, ...stated })

/** `left_out` has the kind and the reason, by feed. */
type RunWithLeftOut = RunRecord & {
  readonly left_out?: Readonly<Record<string, readonly [kind: FeedLeftOut["kind"], reason: string]>>
}
const partial = (pipeline: string, left_out: RunWithLeftOut["left_out"] = {}): RunWithLeftOut => ({
  ...read(pipeline, { outcome: "partial" }),
  left_out
})

/** Two stores: one was read an hour ago, the other on 2 January 2026. */
const oneLateStore = (layout: Layout) =>
  publishReads(
    layout,
    { day: 2, store: "old", products: [{ id: "a" }] },
    { day: 2, store: "new", products: [{ id: "b" }], read_at: hoursAgo(1) }
  )
const freshStore = (layout: Layout) =>
  publishReads(layout, { day: 2, store: "new", products: [{ id: "b" }], read_at: hoursAgo(1) })

interface Home {
  readonly flags?: ReadonlyArray<string>
  /** What is published first. */
  readonly publish?: (layout: Layout) => Effect.Effect<unknown, unknown, NodeServices.NodeServices>
  /** Later runs, oldest first. */
  readonly runs?: ReadonlyArray<RunWithLeftOut>
  readonly damage?: (warehouse: string) => void
}

/** Calls the command over such a home. */
const readStatus = async ({ damage = () => {}, flags = [], publish = () => Effect.void, runs = [] }: Home) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-status-"))
  try {
    const layout = await Effect.runPromise(layoutOf(home).pipe(Effect.provide(NodeServices.layer)))
    await Effect.runPromise(publish(layout).pipe(Effect.provide(NodeServices.layer)))
    for (const [n, { left_out = {}, ...record }] of runs.entries()) {
      const leftOut = Object.entries(left_out).map(([feed, [kind, reason]]) => ({ feed, kind, reason }))
      const recording = recordFailedRun(layout, { run: { ...record, run_id: `${n}` }, checks: [], leftOut })
      await Effect.runPromise(recording.pipe(Effect.provide(NodeServices.layer)))
    }
    damage(layout.dir)
    const { code, problems, stdout } = await run("larder-ingest", ["status", ...flags], { LARDER_HOME: home })
    return { code, problems, stdout, lines: stdout.trim().split("\n") }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

interface Printed {
  readonly status: string
  readonly states: Readonly<Record<string, number>>
  readonly late: ReadonlyArray<{ readonly subject: string }>
  readonly left_out: unknown
}

describe("larder-ingest status", () => {
  it("exits with 0 if nothing is late, and with 4 for what was never published if it is strict", async () => {
    const lenient = await readStatus({ publish: freshStore })
    assert.deepStrictEqual([lenient.code, lenient.problems], [0, ""])
    assert.deepStrictEqual(lenient.lines.slice(0, 2), [
      "not loaded  commodities: never run",
      "not loaded  branded-foods: never run"
    ])
    assert.match(
      lenient.lines[2] ?? "",
      /^fresh +storefronts: 1 fresh; last read completely \d{4}-\d\d-\d\d \d\d:\d\d UTC$/
    )
    const quiet = await readStatus({ publish: freshStore, flags: ["--quiet"] })
    assert.deepStrictEqual([quiet.code, quiet.problems, quiet.stdout], [0, "", ""])
    const strict = await readStatus({ publish: freshStore, flags: ["--strict", "--quiet"] })
    assert.include(strict.stdout, "storefronts: 1 fresh")
    assert.deepStrictEqual(
      [strict.code, strict.problems],
      [4, "larder-ingest: Never published: commodities, branded-foods.\n"]
    )
  })

  it("exits with 4 if ingest.freshness says that something is late, although every run succeeds, and names it", async () => {
    const runs = [read("storefronts", { origin: "replay", finished_at: hoursAgo(0) })]
    const { code, lines, problems } = await readStatus({ publish: oneLateStore, runs })
    assert.deepStrictEqual([code, problems], [4, "larder-ingest: Late: storefronts.\n"])
    assert.match(lines[2] ?? "", /^late +storefronts: 1 late, 1 fresh; last read completely /)
    assert.match(
      lines[3] ?? "",
      /^ {2}late: store old\.example\.com\. The next read is expected by 2026-01-03 10:00 UTC/
    )
    const strict = await readStatus({ publish: oneLateStore, runs, flags: ["--strict"] })
    assert.deepStrictEqual(
      [strict.code, strict.problems],
      [4, "larder-ingest: Late: storefronts. Never published: commodities, branded-foods.\n"]
    )
    const { stdout } = await readStatus({ publish: oneLateStore, runs, flags: ["--json"] })
    const stores: Printed | undefined = JSON.parse(stdout)[2]
    assert.deepStrictEqual(
      [stores?.status, stores?.states, stores?.late.map(({ subject }) => subject)],
      ["late", { fresh: 1, late: 1 }, ["old.example.com"]]
    )
  })

  it("exits with 1 if ingest.freshness cannot be read, because nothing is known to be fresh", async () => {
    const { code, lines, problems } = await readStatus({
      publish: freshStore,
      damage: (dir) => {
        rmSync(path.join(dir, "larder.duckdb"))
        mkdirSync(path.join(dir, "larder.duckdb", "in the way"), { recursive: true })
      }
    })
    assert.strictEqual(code, 1)
    assert.match(lines[2] ?? "", /^unknown +storefronts: ingest\.freshness could not be read$/)
    assert.match(
      problems,
      /the newest runs may be missing here: \S+\/larder\.duckdb could not be updated to the live data: E\w+: [^.]*larder\.duckdb\S* -> '\S+larder\.duckdb'\. It keeps its current state, and nothing is lost\. Remove the cause/
    )
    assert.match(problems, /Whether the data is fresh is unknown: storefronts\.$/m)
  })

  it("names what is left out of the live data, at most five feeds of each data set in one short line each", async () => {
    const said = `21 of 40 rows were rejected,\nmost often because price is "\u001b]0;title\u0007${"x".repeat(200)}"`
    const left_out = Object.fromEntries(
      ["a", "b", "c", "d", "e", "f", "g"].map((feed) => [feed, ["partial", said] as const])
    )
    const runs = [partial("branded-foods", left_out), read("branded-foods")]
    const { code, lines, stdout } = await readStatus({ runs })
    assert.strictEqual(code, 0)
    assert.strictEqual(lines[1], "not loaded  branded-foods: never published")
    const first =
      '  a (left out in part): 21 of 40 rows were rejected, most often because price is "\\u001b]0;title\\u0007xx'
    assert.isTrue(lines[2]?.startsWith(first) && lines[2].endsWith("x…"), lines[2])
    assert.match(lines[6] ?? "", /^ {2}e \(left out/)
    assert.strictEqual(lines[7], "  and 2 more: ingest.live_left_out")
    assert.notInclude(stdout, "\u001b")
    const json = await readStatus({ flags: ["--json", "--strict"], runs })
    const states: ReadonlyArray<Printed> = JSON.parse(json.stdout)
    assert.deepStrictEqual(
      states.map((state) => state.left_out),
      [[], Object.keys(left_out).map((feed) => ({ feed, kind: "partial", reason: said })), []]
    )
    assert.strictEqual(json.code, 4)
    assert.match(json.problems, /Left out, all or in part: branded-foods\.\n$/)
  })

  it("exits with 1 if the last run of a pipeline failed, even if another one is late", async () => {
    const message = "13 of 39 feeds cannot be trusted.\na is away\nb is away"
    const { code, lines, problems } = await readStatus({
      publish: oneLateStore,
      runs: [
        read("commodities"),
        read("commodities", { outcome: "failed", message }),
        read("branded-foods", { outcome: "partial", rows_read: 0 })
      ]
    })
    assert.deepStrictEqual(
      [code, problems],
      [1, "larder-ingest: The last run of commodities and of branded-foods failed.\n"]
    )
    assert.match(
      lines[0] ?? "",
      /^failed +commodities: the run of .+ failed: 13 of 39 feeds cannot be trusted\. a is away$/
    )
    assert.match(lines[1] ?? "", /^failed +branded-foods: the run of .+ failed: nothing could be read$/)
    assert.match(lines[2] ?? "", /^late +storefronts/)
  })

  it("exits with 0 for the bundled samples, which are never late, and with 4 if it is strict", async () => {
    const { code, stdout } = await run("larder-ingest", ["status", "--json"], { LARDER_HOME: inject("sampleHome") })
    assert.strictEqual(code, 0)
    const states: ReadonlyArray<Printed> = JSON.parse(stdout)
    assert.deepStrictEqual(
      states.map(({ late, states, status }) => [status, Object.keys(states), late]),
      states.map(() => ["sample", ["sample"], []])
    )
    const strict = await run("larder-ingest", ["status", "--strict"], { LARDER_HOME: inject("sampleHome") })
    assert.strictEqual(strict.code, 4)
    assert.match(strict.problems, /^larder-ingest: Bundled samples: commodities, branded-foods, storefronts\.$/m)
  })

  it("judges by the last run that was not interrupted", async () => {
    const { code, lines } = await readStatus({
      runs: [
        read("commodities"),
        read("commodities", { outcome: "failed", message: "Nothing could be read.\nThe disk is full." }),
        read("commodities", { outcome: "interrupted", message: "interrupted", rows_read: null })
      ]
    })
    assert.strictEqual(code, 1)
    assert.match(lines[0] ?? "", /^failed +commodities: .+ failed: Nothing could be read\. The disk is full\.$/)
  })

  it("prints the data sets as not loaded with --json if nothing ever ran, and exits with 1", async () => {
    const { code, problems, stdout } = await readStatus({ flags: ["--json"] })
    assert.strictEqual(code, 1)
    assert.match(problems, /There is no data in .+ yet\. Run: npx larder-ingest/)
    const states: ReadonlyArray<Printed> = JSON.parse(stdout)
    assert.deepStrictEqual(
      states.map(({ status }) => status),
      ["not_loaded", "not_loaded", "not_loaded"]
    )
  })
})
