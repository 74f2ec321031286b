/** Loads small releases with invalid fields, and shows what the warehouse keeps of them. */
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { expect } from "vitest"
import { jsonRelease } from "../support/pipelines/small-releases.ts"
import { ingest } from "./branded-foods.ts"
import { parseRunRecord, query } from "./ingesting.ts"

export const loadRelease = async (home: string, release: string, code = 0) => {
  const end = await ingest(home, release)
  if (end.code !== code) throw new Error(`exit code ${end.code}: ${end.stderr}`)
  const run = parseRunRecord(end)
  expect(Number(run.rows_loaded) + Number(run.rows_unchanged) + Number(run.rows_rejected)).toBe(run.rows_read)
  return { run, stderr: end.stderr }
}

export const loadJson = async (home: string, lines: ReadonlyArray<string>, code = 0) => {
  mkdirSync(home)
  const file = path.join(home, "release.json")
  writeFileSync(file, jsonRelease(lines))
  return await loadRelease(home, file, code)
}

export const formatRejects = async (home: string): Promise<ReadonlyArray<string>> => {
  const [rows = []] = await query(
    home,
    "select feed, position::integer as position, reason from ingest.reject order by feed, position"
  )
  return rows.map(({ feed, position, reason }) => `${String(feed).replace("gov-fdc/", "")} ${position}: ${reason}`)
}

export const readOddValues = async (home: string): Promise<ReadonlyArray<string>> => {
  const [rows = []] = await query(home, "select feed, kind, field, said, rows::integer as rows from ingest.odd_value")
  return rows.map(({ feed, field, kind, rows, said }) => `${feed} ${kind}: ${rows} × ${field} ${said}`).toSorted()
}
