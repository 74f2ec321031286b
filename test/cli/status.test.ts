import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { FeedLeftOut, RunRecord } from "@larder/schemas"
import { layoutOf, recordFailedRun } from "@larder/warehouse"
import { Effect } from "effect"
import { inject } from "vitest"
import { run } from "../support/programs.ts"
import { aRun } from "../support/warehouse/example-data-set.ts"

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
const live = (pipeline: string, days: number, stated: Partial<RunRecord> = {}) =>
  aRun({ pipeline, origin: "live", outcome: "unchanged", rows_read: 9, finished_at: daysAgo(days), ...stated })

/** Returns the exit code, one line per pipeline, and the message, for a home with these runs, oldest first. */
const readStatusAfter = (...runs: ReadonlyArray<RunWithLeftOut>) => readStatus([], runs)

/** `left_out` has the kind and the reason, by feed. */
type RunWithLeftOut = RunRecord & {
  readonly left_out?: Readonly<Record<string, readonly [kind: FeedLeftOut["kind"], reason: string]>>
}
const partial = (pipeline: string, days: number, left_out: RunWithLeftOut["left_out"] = {}): RunWithLeftOut => ({
  ...live(pipeline, days, { outcome: "partial" }),
  left_out
})

const readStatus = async (
  flags: ReadonlyArray<string>,
  runs: ReadonlyArray<RunWithLeftOut>,
  damage: (warehouse: string) => void = () => {}
) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-status-"))
  try {
    const layout = await Effect.runPromise(layoutOf(home).pipe(Effect.provide(NodeServices.layer)))
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

describe("larder-ingest status", () => {
  it("exits with 0 if each data set was read in time, and reports which one was never run", async () => {
    const { code, lines } = await readStatusAfter(live("commodities", 1), live("branded-foods", 13))
    assert.strictEqual(code, 0)
    assert.match(lines[0] ?? "", /^fresh +commodities: last read \d{4}-\d\d-\d\d \d\d:\d\d UTC$/)
    assert.match(lines[1] ?? "", /^fresh +branded-foods: /)
    assert.strictEqual(lines[2], "not loaded  storefronts: never run")
  })

  it("exits with 4 if a data set was not read for two of its periods", async () => {
    const { code, lines, problems } = await readStatusAfter(live("commodities", 2), live("branded-foods", 14))
    assert.deepStrictEqual([code, problems], [4, "larder-ingest: Late: commodities, branded-foods.\n"])
    assert.match(lines[0] ?? "", /^late +commodities: last read .+; it should be less than 2 days old$/)
    assert.match(lines[1] ?? "", /^late +branded-foods: .+less than 14 days old$/)
  })

  it("reports that the newest runs cannot be shown, and shows the others", async () => {
    const { code, lines, problems } = await readStatus([], [live("commodities", 1)], (dir) => {
      rmSync(path.join(dir, "larder.duckdb"))
      mkdirSync(path.join(dir, "larder.duckdb", "in the way"), { recursive: true })
    })
    assert.strictEqual(code, 0)
    assert.match(lines[0] ?? "", /^fresh +commodities: /)
    assert.match(problems, /the newest runs may be missing here: .*larder\.duckdb/)
  })

  it("does not count a run that left feeds out as a read, except for stores, of which some always fail", async () => {
    const missing = { milk: ["unreachable", "no response"], butter: ["partial", "3 of 9 rows were rejected."] } as const
    const { code, lines } = await readStatusAfter(
      live("commodities", 3),
      partial("commodities", 0, missing),
      live("storefronts", 3),
      partial("storefronts", 0, { "store/shop.example": ["unreachable", "no response"] })
    )
    assert.strictEqual(code, 4)
    assert.match(
      lines[0] ?? "",
      /^late +commodities: .+; the run of .+ left feeds out, all or in part: ingest\.left_out$/
    )
    assert.deepStrictEqual(lines.slice(1, 3), [
      "  butter (left out in part): 3 of 9 rows were rejected.",
      "  milk (not reached): no response"
    ])
    assert.match(lines[4] ?? "", /^fresh +storefronts: .+ left feeds out/)
  })

  it("counts a run that read feeds only in part as a read, even if newer ones left feeds out as a whole", async () => {
    const { code, lines } = await readStatusAfter(
      live("commodities", 9),
      partial("commodities", 1, { butter: ["partial", "3 of 9 rows were rejected."] }),
      partial("commodities", 0, { milk: ["untrusted", "a page"], whey: ["partial", "2 of 9 rows were rejected."] })
    )
    assert.strictEqual(code, 0)
    assert.include(lines[0] ?? "", `fresh       commodities: last read ${daysAgo(1).slice(0, 10)}`)
    assert.deepStrictEqual(lines.slice(1, 4), [
      "  butter (left out in part): 3 of 9 rows were rejected.",
      "  whey (left out in part): 2 of 9 rows were rejected.",
      "  milk (not trusted): a page"
    ])
  })

  it("names what is left out of the live data, at most five feeds of each data set in one short line each", async () => {
    const said = `21 of 40 rows were rejected,\nmost often because price is "\u001b]0;title\u0007${"x".repeat(200)}"`
    const left_out = Object.fromEntries(
      ["a", "b", "c", "d", "e", "f", "g"].map((feed) => [feed, ["partial", said] as const])
    )
    const runs = [partial("branded-foods", 1, left_out), live("branded-foods", 0)]
    const { code, lines, stdout } = await readStatusAfter(...runs)
    assert.strictEqual(code, 0)
    assert.match(lines[1] ?? "", /^fresh +branded-foods: last read [^;]+$/)
    const first =
      '  a (left out in part): 21 of 40 rows were rejected, most often because price is "\\u001b]0;title\\u0007xx'
    assert.isTrue(lines[2]?.startsWith(first) && lines[2].endsWith("x…"), lines[2])
    assert.match(lines[6] ?? "", /^ {2}e \(left out/)
    assert.strictEqual(lines[7], "  and 2 more: ingest.live_left_out")
    assert.notInclude(stdout, "\u001b")
    const json = await readStatus(["--json"], runs)
    const states: ReadonlyArray<{ readonly left_out: unknown }> = JSON.parse(json.stdout)
    assert.deepStrictEqual(
      states.map((state) => state.left_out),
      [[], Object.keys(left_out).map((feed) => ({ feed, kind: "partial", reason: said })), []]
    )
  })

  it("exits with 1 if the last run of a pipeline failed, even if another one is late", async () => {
    const message = "13 of 39 feeds cannot be trusted.\na is away\nb is away"
    const { code, lines, problems } = await readStatusAfter(
      live("branded-foods", 20),
      live("commodities", 1),
      live("commodities", 0, { outcome: "failed", message }),
      live("storefronts", 0, { outcome: "partial", rows_read: 0 })
    )
    assert.deepStrictEqual(
      [code, problems],
      [1, "larder-ingest: The last run of commodities and of storefronts failed.\n"]
    )
    assert.match(
      lines[0] ?? "",
      /^failed +commodities: the run of .+ failed: 13 of 39 feeds cannot be trusted\. a is away$/
    )
    assert.match(lines[1] ?? "", /^late +branded-foods/)
    assert.match(lines[2] ?? "", /^failed +storefronts: the run of .+ failed: nothing could be read$/)
  })

  it("exits with 0 for the bundled samples, which are never late, as one JSON array with --json", async () => {
    const { code, stdout } = await run("larder-ingest", ["status", "--json"], { LARDER_HOME: inject("sampleHome") })
    assert.strictEqual(code, 0)
    const states = JSON.parse(stdout) as ReadonlyArray<{ readonly status: string; readonly last_run_id: string }>
    assert.deepStrictEqual(
      states.map(({ status }) => status),
      ["sample", "sample", "sample"]
    )
  })

  it("judges by the last run that was not interrupted", async () => {
    const { code, lines } = await readStatusAfter(
      live("commodities", 1),
      live("commodities", 0, { outcome: "failed", message: "Nothing could be read.\nThe disk is full." }),
      live("commodities", 0, { outcome: "interrupted", message: "interrupted", rows_read: null })
    )
    assert.strictEqual(code, 1)
    assert.match(lines[0] ?? "", /^failed +commodities: .+ failed: Nothing could be read\. The disk is full\.$/)
  })

  it("prints the data sets as not loaded with --json if nothing ever ran, and exits with 1", async () => {
    const { code, problems, stdout } = await readStatus(["--json"], [])
    assert.strictEqual(code, 1)
    assert.match(problems, /There is no data in/)
    const states: ReadonlyArray<{ readonly status: string }> = JSON.parse(stdout)
    assert.deepStrictEqual(
      states.map(({ status }) => status),
      ["not_loaded", "not_loaded", "not_loaded"]
    )
  })

  it("exits with 1 and names the command to run if nothing ever ran", async () => {
    const { code, problems } = await readStatusAfter()
    assert.strictEqual(code, 1)
    assert.match(problems, /There is no data in .+ yet\. Run: npx larder-ingest/)
  })
})
