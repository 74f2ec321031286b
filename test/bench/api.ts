/**
 * Measures the bars of the API and the ledger with the bundled samples, in about eight minutes. Against another checkout:
 * the charged call, and the start with 100,000 keys.
 */
import { cpus } from "node:os"
import path from "node:path"
import { run, startServer } from "../support/programs.ts"
import { type Both, compareInTurns, describeBoth, mapBoth, startBoth, stopBoth } from "./against.ts"
import { countRounds, isQuick } from "./effort.ts"
import type { LedgerSize } from "./large-ledger.ts"
import { compareLedgers } from "./ledgers.ts"
import type { Measured } from "./load.ts"
import { describeBare, loadBesideBare } from "./load-in-turns.ts"
import { createFundedKey, startChild } from "./servers.ts"
import { makeLargeHome, measureStart, startWithLargeLedger } from "./start-up.ts"
import { swapUnderLoad } from "./swap.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"
import { describeRange, describeRatios, describeRounds, findRatios } from "./turns.ts"

export const pricesRequest =
  "/v1/commodities/prices?series=cheese-block-sales-price-weekly&from=2025-09-27&to=2026-09-26"
const smallLedger = { entries: 1_000, accounts: 100, keysPerAccount: 1 }
const ledgerOfManyKeys = { entries: 1_000_000, accounts: 10_000, keysPerAccount: 10 }
/** The smallest first. */
const ledgerSizes: ReadonlyArray<LedgerSize> = [
  smallLedger,
  { entries: 10_000_000, accounts: 100, keysPerAccount: 1 },
  ledgerOfManyKeys
]

const printMachine = (bytes: number) =>
  console.log(`${cpus().length} cores, Node ${process.version}, 64 connections, ${bytes} bytes per response`)

export const measureApi = () =>
  inTemporaryFolder("api", async (home) => {
    await run("larder-ingest", ["all"], { LARDER_HOME: home })
    const key = await createFundedKey(home)

    const server = await startServer(home)
    const uncharged = { ...(await startChild("without-ledger.ts", home)), key }
    const charged = { ...server, key }
    const measured = await loadBesideBare(
      home,
      { uncharged, charged },
      { server: charged, path: pricesRequest },
      () => [pricesRequest]
    )

    printMachine(measured.bytes)
    console.table({
      ...describeBare(measured),
      "larder-serve without access and ledger": describeRounds(measured.uncharged),
      "larder-serve, charged and durable": describeRounds(measured.charged)
    })
    await compareLedgers({ home, request: pricesRequest, uncharged, embedded: charged })
    uncharged.stop()
    const swap = await swapUnderLoad({ home, request: pricesRequest, server: charged })
    await server.stop()
    console.table({ "before the swaps": swap.before, "during the swaps": swap.during })
    const findShares = (bases: ReadonlyArray<Measured>) => findRatios(measured.charged, bases, "requests_per_second")
    console.table({
      "B1 charged ÷ bare h3 (≥ 0.5)": { measured: describeRange(findShares(measured.bare)) },
      "B1 charged ÷ bare h3, its fastest response": { measured: describeRange(findShares(measured.fastest)) },
      "B7 lost to access and ledger, % (≤ 20)": {
        measured: describeRange(
          findShares(measured.uncharged).map((share) => (1 - share) * 100),
          0
        )
      },
      "B8 failed requests during swaps (0)": { measured: String(swap.during.failed) },
      "B8 p99 during ÷ before (≤ 3)": { measured: (swap.during.p99_ms / swap.before.p99_ms).toFixed(2) }
    })
    console.log("Start with a large ledger, from the command to the first charged response")
    const starts = []
    for (const size of isQuick ? [smallLedger] : ledgerSizes) {
      starts.push(await startWithLargeLedger(home, pricesRequest, size))
    }
    console.table(starts)
  })

const compareCalls = async (folder: string, checkouts: Both<string>) => {
  const servers = await startBoth(folder, checkouts, ["all"])
  try {
    const measured = await loadBesideBare(folder, servers, { server: servers.this, path: pricesRequest }, () => [
      pricesRequest
    ])
    printMachine(measured.bytes)
    console.table({
      ...describeBare(measured),
      ...describeBoth(measured),
      "this ÷ bare h3": describeRatios(measured.this, measured.bare),
      "this ÷ bare h3, its fastest response": describeRatios(measured.this, measured.fastest),
      "bare h3, charged ÷ its fastest response": describeRatios(measured.charging, measured.fastest)
    })
  } finally {
    await stopBoth(servers)
  }
}

export const compareApi = (checkouts: Both<string>) =>
  inTemporaryFolder("api", async (folder) => {
    await compareCalls(folder, checkouts)
    const size = isQuick ? smallLedger : ledgerOfManyKeys
    const starts = await mapBoth(checkouts, async (checkout, name) => {
      const home = path.join(folder, `${name}-large`)
      const key = await makeLargeHome(home, path.join(folder, name), size, checkout)
      return () => measureStart({ home, key, request: pricesRequest, checkout })
    })
    const keys = size.accounts * size.keysPerAccount
    await compareInTurns(`Start to the first charged response, ${keys} keys`, countRounds(7), starts)
  })
