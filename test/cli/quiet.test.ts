/** What the commands that cron runs print with --quiet. Runs and status have their own tests. */
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeTestFolder } from "../end-to-end/ingesting.ts"
import { addGeneration } from "../support/more-generations.ts"
import { run } from "../support/programs.ts"

describe("larder-ingest --quiet", () => {
  it("prints nothing if a command succeeds, and the JSON of --json", async () => {
    const [home, depot, laptop] = [makeTestFolder(), makeTestFolder(), makeTestFolder()]
    await addGeneration(home, ["2026-09-30"], { LARDER_DEPOT: depot })
    const call = (args: ReadonlyArray<string>, at = home) =>
      run("larder-ingest", [...args, "--quiet"], { LARDER_HOME: at, LARDER_DEPOT: depot })
    const commands = [
      ["rebuild", "commodities"],
      ["prune", "--keep", "1 day"],
      ["snapshot", "--to", path.join(home, "all.duckdb")],
      ["lake"],
      ["catalog", "check"]
    ]
    const ended = [await call(["pull"], laptop)]
    for (const command of commands) ended.push(await call(command))
    for (const { code, stderr, stdout } of ended) assert.deepStrictEqual([code, stdout, stderr], [0, "", ""])
    const { stderr, stdout } = await call(["lake", "--json"])
    assert.deepStrictEqual([JSON.parse(stdout).tables, stderr], [[], ""])
  })

  it("prints an error, and is refused by a command that has nothing else to do than to print", async () => {
    const call = (...args: ReadonlyArray<string>) =>
      run("larder-ingest", [...args, "--quiet"], { LARDER_HOME: makeTestFolder() })
    const failed = await call("lake")
    assert.deepStrictEqual([failed.code, failed.stdout], [1, ""])
    assert.match(failed.problems, /^larder-ingest: There is no data in /)
    const refused = await call("generations")
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
    assert.include(refused.problems, "larder-ingest generations: there is no --quiet\n")
  })
})
