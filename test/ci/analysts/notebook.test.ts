/** The questions of `examples/analysis.sql`, answered by an earlier version of DuckDB. */
import { spawn } from "node:child_process"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, inject, it } from "vitest"
import { copyForTest, makeTestFolder } from "../../end-to-end/ingesting.ts"
import { run, waitForExit } from "../../support/programs.ts"

const program = fileURLToPath(new URL("answer-all.ts", import.meta.url))

const answerAll = async (driver: string, file: string) => {
  const { code, stderr, stdout } = await waitForExit(
    spawn(process.execPath, [program, driver, file], { timeout: 60_000 })
  )
  expect(code, stderr).toBe(0)
  const result: { version: string; answers: Record<string, ReadonlyArray<unknown>> } = JSON.parse(stdout)
  return result
}

it("DuckDB 1.4 answers every question of the notebook from a snapshot like the version that wrote it", async () => {
  const file = path.join(makeTestFolder(), "all.duckdb")
  const home = copyForTest(inject("sampleHome"))
  const { code, stderr } = await run("larder-ingest", ["snapshot", "--to", file], { LARDER_HOME: home })
  expect(code, stderr).toBe(0)
  const { answers, version } = await answerAll("duckdb-1.4", file)
  expect(version).toMatch(/^v1\.4\./)
  expect(answers).toEqual((await answerAll("@duckdb/node-api", file)).answers)
  expect(Object.values(answers).filter((rows) => rows.length > 0)).toHaveLength(13) // no price has changed since the first read
})
