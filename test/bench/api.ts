/** Measures the bars of the API and the ledger with the bundled samples, in about seven minutes. */
import { cpus } from "node:os"
import { run, startServer } from "../support/programs.ts"
import { countRounds, isQuick, limitSeconds } from "./effort.ts"
import { compareLedgers } from "./ledgers.ts"
import { combineRounds, load, type Measured } from "./load.ts"
import { createFundedKey, fetchResponse, startChild } from "./servers.ts"
import { startWithLargeLedger } from "./start-up.ts"
import { swapUnderLoad } from "./swap.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"

const rounds = countRounds(5)
const seconds = limitSeconds(5)
const request = "/v1/commodities/prices?series=cheese-block-sales-price-weekly&from=2025-09-27&to=2026-09-26"
/** The smallest first. */
const ledgerSizes = [
  { entries: 1_000, accounts: 100, keysPerAccount: 1 },
  { entries: 10_000_000, accounts: 100, keysPerAccount: 1 },
  { entries: 1_000_000, accounts: 10_000, keysPerAccount: 10 }
]

export const measureApi = () =>
  inTemporaryFolder("api", async (home) => {
    await run("larder-ingest", ["all"], { LARDER_HOME: home })
    const key = await createFundedKey(home)

    const server = await startServer(home)
    const response = await fetchResponse(server.api + request, key)
    const bare = await startChild("bare.ts", JSON.stringify(response))
    const uncharged = await startChild("without-ledger.ts", home)
    const servers = { bare: bare.api, uncharged: uncharged.api, charged: server.api }
    const measured: Record<keyof typeof servers, Array<Measured>> = { bare: [], uncharged: [], charged: [] }
    const names = Object.keys(servers) as Array<keyof typeof servers>
    for (const name of names) await load({ url: servers[name] + request, key, seconds: limitSeconds(2) }) // warm up
    for (let round = 0; round < rounds; round++) {
      for (const name of names) measured[name].push(await load({ url: servers[name] + request, key, seconds }))
    }
    const rows = {
      bare: combineRounds(measured.bare),
      uncharged: combineRounds(measured.uncharged),
      charged: combineRounds(measured.charged)
    }
    const rate = (name: keyof typeof servers) => rows[name].requests_per_second
    bare.stop()

    console.log(
      `${cpus().length} cores, Node ${process.version}, 64 connections, ${response.body.length} bytes per response`
    )
    console.table({
      "bare h3, same bytes and headers": rows.bare,
      "larder-serve without access and ledger": rows.uncharged,
      "larder-serve, charged and durable": rows.charged
    })
    await compareLedgers({ home, request, uncharged, embedded: { ...server, key } })
    uncharged.stop()
    const swap = await swapUnderLoad({ home, api: server.api, request, key })
    await server.stop()
    console.table({ "before the swaps": swap.before, "during the swaps": swap.during })
    console.table({
      "B1 charged ÷ bare h3 (≥ 0.5)": { measured: (rate("charged") / rate("bare")).toFixed(2) },
      "B7 lost to access and ledger (≤ 20 %)": {
        measured: `${((1 - rate("charged") / rate("uncharged")) * 100).toFixed(0)} %`
      },
      "B8 failed requests during swaps (0)": { measured: String(swap.during.failed) },
      "B8 p99 during ÷ before (≤ 3)": { measured: (swap.during.p99_ms / swap.before.p99_ms).toFixed(2) }
    })
    console.log("Start with a large ledger, from the command to the first charged response")
    const starts = []
    for (const size of isQuick ? ledgerSizes.slice(0, 1) : ledgerSizes) {
      starts.push(await startWithLargeLedger(home, request, size))
    }
    console.table(starts)
  })
