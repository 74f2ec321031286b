/** Measures how accounts with many connections and large responses slow another account down, in four minutes. */
import { cpus } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { run, startServer } from "../support/programs.ts"
import type { HeavyCallers } from "./heavy-callers.ts"
import { type Load, load, type Measured } from "./load.ts"
import { createFundedKey } from "./servers.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"
import { leaveUnread } from "./unread.ts"

const seconds = 10
const connectionsPerAccount = 16
const cheapPath = "/v1/commodities/prices?series=butter-exch-spot-close-daily&from=2026-09-01"
const longestList = Array.from({ length: 100 }, () => "butter-exch-spot-close-daily").join(",")
const largePath = `/v1/commodities/prices?series=${longestList}`

const toolCall = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "get_commodity_prices", arguments: { series: longestList } }
}
const kinds: Readonly<Record<string, Pick<Load, "url" | "headers" | "body">>> = {
  plain: { url: largePath },
  gzip: { url: largePath, headers: "Accept-Encoding: gzip\r\n" },
  zstd: { url: largePath, headers: "Accept-Encoding: zstd\r\n" },
  "a tool's result": {
    url: "/mcp",
    headers: "Accept: application/json, text/event-stream\r\n",
    body: JSON.stringify(toolCall)
  }
}

const callHeavily = (callers: HeavyCallers) =>
  new Promise<ReadonlyArray<Measured>>((resolve, reject) => {
    const worker = new Worker(new URL("heavy-callers.ts", import.meta.url), { workerData: callers })
    worker.once("message", resolve)
    worker.once("error", reject)
  })

export const measureFairness = () =>
  inTemporaryFolder("fairness", async (home) => {
    await run("larder-ingest", ["all"], { LARDER_HOME: home })
    const key = await createFundedKey(home)
    const heavyKeys: Array<string> = []
    for (let account = 0; account < 8; account++) heavyKeys.push(await createFundedKey(home))
    const server = await startServer(home)
    const response = await fetch(server.api + largePath, { headers: { authorization: `Bearer ${key}` } })
    const bytes = (await response.arrayBuffer()).byteLength
    console.log(`${cpus().length} cores, Node ${process.version}, large responses of ${bytes} bytes`)
    const singleCaller = { url: server.api + cheapPath, key, connections: 1 }
    await load({ ...singleCaller, seconds: 2 })
    const table: Record<string, unknown> = {}
    const baseline = await load({ ...singleCaller, seconds })
    table["no other caller"] = { "cheap p50, ms": baseline.p50_ms, "p99, ms": baseline.p99_ms, failed: baseline.failed }
    for (const [name, kind] of Object.entries(kinds)) {
      for (const accounts of [1, 8]) {
        const callers = { ...kind, url: server.api + kind.url, keys: heavyKeys.slice(0, accounts) }
        const heavyCalls = callHeavily({ ...callers, connections: connectionsPerAccount, seconds: seconds + 2 })
        await pause(1000)
        const cheapCalls = await load({ ...singleCaller, seconds })
        const measured = await heavyCalls
        table[`${accounts} × ${connectionsPerAccount}, ${name}`] = {
          "cheap p50, ms": cheapCalls.p50_ms,
          "p99, ms": cheapCalls.p99_ms,
          failed: cheapCalls.failed,
          "large responses/s": measured.reduce((sum, account) => sum + account.requests_per_second, 0),
          "their p50, ms": Math.max(...measured.map((account) => account.p50_ms)),
          "their p99, ms": Math.max(...measured.map((account) => account.p99_ms)),
          refused: measured.reduce((sum, account) => sum + account.failed, 0)
        }
      }
    }
    console.table(table)
    const target = { api: server.api, pid: server.child.pid ?? 0 }
    const script = /\/docs\/assets\/scalar[^"]+/.exec(await (await fetch(`${server.api}/docs/reference`)).text())?.[0]
    console.log("Callers that never read")
    console.table({
      "150 request the script of the docs, 4 MB, without a key": await leaveUnread({
        ...target,
        path: script ?? "",
        sockets: 150
      }),
      "100 request 5 MB with one key": await leaveUnread({ ...target, path: largePath, key, sockets: 100 })
    })
    await server.stop()
  })
