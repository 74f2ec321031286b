/** Removing payloads from the raw archive. */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeTestFolder } from "../end-to-end/ingesting.ts"
import { addGeneration } from "../support/more-generations.ts"
import { plainName } from "../support/pipelines/raw-archive.ts"
import { run } from "../support/programs.ts"

const recent = "What the last 6 hours fetched always stays, because the next run may reuse it."

describe("larder-ingest prune", () => {
  it("removes runs that no rollback needs, lists them, and explains the consequences", async () => {
    const home = makeTestFolder()
    const environment = { LARDER_HOME: home, LARDER_KEPT_GENERATIONS: "1" }
    const call = (...args: ReadonlyArray<string>) => run("larder-ingest", args, environment)
    await addGeneration(home, ["2026-09-30"])
    await addGeneration(home, ["2026-09-30", "2026-10-01"])
    await run("larder-ingest", ["rollback"], { LARDER_HOME: home })
    await addGeneration(home, ["2026-09-30", "2026-10-02"], environment)
    const lists = path.join(home, "raw/fetches")
    const [, rolledBackList = ""] = readdirSync(lists).sort()
    assert.strictEqual(
      (await call("prune", "--keep", "1 day")).stdout,
      `Nothing to remove: 3 runs are kept. ${recent}\n`
    )
    for (const name of readdirSync(lists)) utimesSync(path.join(lists, name), 0, 0)
    const run_id = rolledBackList.replace(".ndjson", "")
    const { bytes, ...planned } = JSON.parse((await call("prune", "--keep", "1 run", "--dry-run", "--json")).stdout)
    assert.isAbove(bytes, 100)
    assert.deepStrictEqual(planned, {
      dry_run: true,
      runs: [{ run_id, pipeline: "commodities", outcome: "partial", rolled_back: true }],
      payloads: 1,
      unlisted_payloads: 0,
      unlisted_bytes: 0,
      kept: 2
    })
    assert.include(readdirSync(lists), rolledBackList)
    const { code, stdout } = await call("prune", "--keep", "1 run")
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(stdout.replace(/[\d,]+ KiB/, "… KiB").split("\n"), [
      `2 runs are kept. ${recent}`,
      "Removed 1 payload of 1 run, … KiB:",
      `  ${run_id}  commodities: rolled back`,
      "Payloads that only these runs fetched are no longer available. A rebuild gives the same rows as before: it does not repeat runs that failed, were killed or were rolled back.",
      ""
    ])
    assert.notInclude(readdirSync(lists), rolledBackList)
  })

  it("removes payloads that no run lists, and says how many and how large they are", async () => {
    const home = makeTestFolder()
    await addGeneration(home, ["2026-09-30"])
    const files = [Buffer.alloc(2000, 1), Buffer.alloc(3000, 2)].map((payload) => {
      const file = path.join(home, "raw", plainName(payload))
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, payload)
      utimesSync(file, 0, 0)
      return file
    })
    const call = (...args: ReadonlyArray<string>) =>
      run("larder-ingest", ["prune", "--keep", "1 day", ...args], { LARDER_HOME: home })
    assert.strictEqual(
      (await call("--dry-run")).stdout,
      `1 run is kept. ${recent}\nWould remove 2 payloads that no run lists, 5 KiB: they were fetched by runs that were killed.\n`
    )
    assert.deepInclude(JSON.parse((await call("--json")).stdout), { unlisted_payloads: 2, unlisted_bytes: 5000 })
    assert.deepStrictEqual(files.filter(existsSync), [])
    assert.strictEqual((await call()).stdout, `Nothing to remove: 1 run is kept. ${recent}\n`)
  })

  it("needs --keep with days or runs", async () => {
    for (const args of [[], ["--keep", "90"]]) {
      const { code, stderr } = await run("larder-ingest", ["prune", ...args], { LARDER_HOME: makeTestFolder() })
      assert.strictEqual(code, 2)
      assert.match(stderr, /--keep/)
    }
  })
})
