/** Publishes further generations, each with the readings of further trading days from a recording. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { type Environment, run } from "./programs.ts"

/** A payload with the butter closes of these days, such as 2026-09-30, which are after the end of the bundled samples. */
const makePayload = (days: ReadonlyArray<string>) => {
  const results = days.map((day) => {
    const [year, month, date] = day.split("-")
    const report_date = `${month}/${date}/${year}`
    return {
      report_date,
      report_begin_date: report_date,
      report_end_date: report_date,
      published_date: `${report_date} 10:57:02`,
      commodity: "Butter",
      package: null,
      grade: "Grade AA",
      close_price: 1.39,
      slug_id: 1603
    }
  })
  const cheese = { ...results[0], commodity: "Cheese", package: "Barrels", grade: null, close_price: null }
  const stats = { returnedRows: days.length + 1, userAllowedRows: 100000, totalRows: days.length + 1 }
  return JSON.stringify({ stats, results: [...results, cheese] })
}

/** Writes a recording of these days. It lacks the other reports. */
export const recordDays = (folder: string, days: ReadonlyArray<string>) => {
  const reports = path.join(folder, "marsapi.ams.usda.gov/services/v1.2/reports")
  mkdirSync(reports, { recursive: true })
  writeFileSync(path.join(reports, "1603"), makePayload(days))
}

/** Publishes one more generation. The other reports are left out, so the run exits with 4. */
export const addGeneration = async (
  home: string,
  days: ReadonlyArray<string>,
  environment: Environment = {}
): Promise<void> => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-replay-"))
  try {
    recordDays(folder, days)
    const { code, stderr, stdout } = await run("larder-ingest", ["commodities", "--replay", folder, "--json"], {
      LARDER_HOME: home,
      ...environment
    })
    if (code !== 4 || !stdout.includes('"outcome":"partial"'))
      throw new Error(`unexpected exit code ${code}:\n${stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
