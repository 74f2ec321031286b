/** Reads the files for analysts with earlier versions of DuckDB. */
import { spawn } from "node:child_process"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, inject, it } from "vitest"
import { copyForTest, makeTestFolder } from "../../end-to-end/ingesting.ts"
import { run, waitForExit } from "../../support/programs.ts"

const program = fileURLToPath(new URL("read-all.ts", import.meta.url))

const readAll = async (driver: string, files: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await waitForExit(
    spawn(process.execPath, [program, driver, ...files], { timeout: 60_000 })
  )
  expect(code, stderr).toBe(0)
  const { read, version }: { version: string; read: Record<string, Record<string, number>> } = JSON.parse(stdout)
  return { version, counts: files.map((file) => read[file]) }
}

const files = () =>
  ["commodities", "branded-foods", "storefronts", "ingestion"].map((name) =>
    path.join(inject("sampleHome"), "warehouse", `${name}.duckdb`)
  )

let expected: ReturnType<typeof readAll> | undefined
/** Reads the files with the version that wrote them, only once. */
const readExpected = () => {
  expected ??= readAll("@duckdb/node-api", files())
  return expected
}

it("DuckDB 1.1 reads every row of every table and view in the files of the data sets and of the runs", async () => {
  const { counts, version } = await readAll("duckdb-1.1", files())
  expect(version).toMatch(/^v1\.1\./)
  expect(counts).toEqual((await readExpected()).counts)
  for (const tables of counts) expect(Object.keys(tables ?? {}).length).toBeGreaterThan(5)
})

it("DuckDB 1.4 reads the same in a snapshot, which holds all of them", async () => {
  const file = path.join(makeTestFolder(), "all.duckdb")
  const { code, stderr } = await run("larder-ingest", ["snapshot", "--to", file], {
    LARDER_HOME: copyForTest(inject("sampleHome"))
  })
  expect(code, stderr).toBe(0)
  const [{ counts, version }, expectedFiles] = [await readAll("duckdb-1.4", [file]), await readExpected()]
  expect(version).toMatch(/^v1\.4\./)
  const { "ingest.table_constraint": _ownOfEachFile, ...expected } = Object.assign({}, ...expectedFiles.counts)
  expect(counts[0]).toMatchObject(expected)
})
