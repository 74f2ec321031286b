/** How long a server takes from its start to its first charged answer, on a ledger of ten million entries. */
import { cpSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { startServer } from "../programs.ts"
import { makeLargeLedger } from "./large-ledger.ts"

export const startWithLargeLedger = async (warehouseHome: string, entries: number) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-large-"))
  try {
    cpSync(path.join(warehouseHome, "warehouse"), path.join(home, "warehouse"), {
      recursive: true,
      verbatimSymlinks: true
    })
    await makeLargeLedger(path.join(home, "ledger"), entries)
    const startedAt = performance.now()
    const server = await startServer(home)
    const started_seconds = Number(((performance.now() - startedAt) / 1000).toFixed(2))
    await server.stop()
    const bytes = statSync(path.join(home, "ledger", "ledger.duckdb")).size
    return { entries, "ledger.duckdb, MB": Math.round(bytes / 1e6), started_seconds }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
