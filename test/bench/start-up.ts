/** Measures the time from the start of a server to its first charged response, with a large ledger. */
import { cpSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { ledgerPath } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { run, startServer } from "../support/programs.ts"
import { type LedgerSize, makeLargeLedger } from "./large-ledger.ts"

/** `request` is a path that the ledger's key may call. */
export const startWithLargeLedger = async (warehouseHome: string, request: string, size: LedgerSize) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-large-"))
  try {
    cpSync(path.join(warehouseHome, "warehouse"), path.join(home, "warehouse"), {
      recursive: true,
      verbatimSymlinks: true
    })
    const { code, stderr } = await run("larder-ingest", ["status"], { LARDER_HOME: home }) // adapts the copy to its folder
    if (code === null || code > 1) throw new Error(stderr)
    const token = await makeLargeLedger(path.join(home, "ledger"), size)
    const startedAt = performance.now()
    const server = await startServer(home)
    const { headers, status } = await fetch(server.api + request, { headers: { authorization: `Bearer ${token}` } })
    const seconds = Number(((performance.now() - startedAt) / 1000).toFixed(2))
    await server.stop()
    if (status !== 200) throw new Error(`the first call returned ${status}, ${headers.get("x-request-id")}`)
    const bytes = statSync(ledgerPath(path.join(home, "ledger"))).size
    const { accounts, entries, keysPerAccount } = size
    return { entries, keys: accounts * keysPerAccount, "ledger.sqlite, MB": Math.round(bytes / 1e6), seconds }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
