/** A second generation with one more reading, from a recorded payload of one more trading day. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { run } from "./programs.ts"

/** One butter close, after the bundled samples end. */
const payload = JSON.stringify({
  stats: { returnedRows: 2, userAllowedRows: 100000, totalRows: 2 },
  results: [
    {
      report_date: "09/30/2026",
      report_begin_date: "09/28/2026",
      report_end_date: "09/30/2026",
      published_date: "09/30/2026 10:57:02",
      commodity: "Butter",
      package: null,
      grade: "Grade AA",
      close_price: 1.39,
      slug_id: 1603
    },
    {
      report_date: "09/30/2026",
      report_begin_date: "09/28/2026",
      report_end_date: "09/30/2026",
      published_date: "09/30/2026 10:57:02",
      commodity: "Cheese",
      package: "Barrels",
      grade: null,
      close_price: null,
      slug_id: 1603
    }
  ]
})

/** Publishes one more generation. The other reports are not in the folder, so they are left out and the run exits with 4. */
export const addGeneration = async (home: string): Promise<void> => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-replay-"))
  const reports = path.join(folder, "marsapi.ams.usda.gov/services/v1.2/reports")
  try {
    mkdirSync(reports, { recursive: true })
    writeFileSync(path.join(reports, "1603"), payload)
    const { code, stderr, stdout } = await run("larder-ingest", ["commodities", "--replay", folder, "--json"], {
      LARDER_HOME: home
    })
    if (code !== 4 || !stdout.includes('"outcome":"partial"')) throw new Error(`unexpected end ${code}:\n${stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
