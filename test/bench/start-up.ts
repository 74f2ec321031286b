/** Measures the time from the start of a server to its first charged response. */
import { cpSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { ledgerPath } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { run, startServer } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import type { LedgerSize } from "./large-ledger.ts"
import { readUsage } from "./process-usage.ts"
import { roundTo } from "./statistics.ts"

export interface Start {
  readonly home: string
  readonly key: string
  /** The path of the first call. */
  readonly request: string
  readonly checkout?: string
}

export const measureStart = async ({ checkout, home, key, request }: Start) => {
  const startedAt = performance.now()
  const server = await startServer(home, {}, [], checkout)
  try {
    const { headers, status } = await fetch(server.api + request, { headers: { authorization: `Bearer ${key}` } })
    const seconds = roundTo((performance.now() - startedAt) / 1000, 2)
    if (status !== 200) throw new Error(`the first call returned ${status}, ${headers.get("x-request-id")}`)
    const unknown = { cpu_seconds: Number.NaN, resident_mb: Number.NaN, peak_mb: Number.NaN }
    return { ...unknown, seconds, ...readUsage(server.child.pid) }
  } finally {
    await server.stop()
  }
}

/** Makes a home with a copy of a warehouse, and a ledger that the code of the checkout writes. Returns its key. */
export const makeLargeHome = async (home: string, warehouseHome: string, size: LedgerSize, checkout = repository) => {
  const [from, to] = [warehouseHome, home].map((folder) => path.join(folder, "warehouse")) as [string, string]
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  const { code, stderr } = await run("larder-ingest", ["status"], { LARDER_HOME: home }, checkout) // adapts the copy to its folder
  if (code === null || code > 1) throw new Error(stderr)
  const { makeLargeLedger }: typeof import("./large-ledger.ts") = await import(
    pathToFileURL(path.join(checkout, "test/bench/large-ledger.ts")).href
  )
  return makeLargeLedger(path.join(home, "ledger"), size)
}

/** `request` is a path that the ledger's key may call. */
export const startWithLargeLedger = async (warehouseHome: string, request: string, size: LedgerSize) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-large-"))
  try {
    const key = await makeLargeHome(home, warehouseHome, size)
    const { resident_mb, seconds } = await measureStart({ home, key, request })
    const bytes = statSync(ledgerPath(path.join(home, "ledger"))).size
    const { accounts, entries, keysPerAccount } = size
    const keys = accounts * keysPerAccount
    return { entries, keys, "ledger.sqlite, MB": Math.round(bytes / 1e6), seconds, "memory, MB": resident_mb }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
