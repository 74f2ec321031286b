/** The example of docs/own-catalog.md: its files, hosts on this machine that have its report, and what it adds. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { layoutOf, readFreshness } from "@larder/warehouse"
import { Effect } from "effect"
import { aRange, bodyOf, everyFeed, feedNamed, marsBody } from "../support/pipelines/commodity-payloads.ts"
import { feedAt } from "../support/pipelines/live-commodities.ts"
import { ingestLive } from "../support/pipelines/live-runs.ts"
import type { Environment } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

export const page = readFileSync(path.join(repository, "docs/own-catalog.md"), "utf8")
export const writeCatalog = (folder: string) => {
  mkdirSync(folder)
  for (const [, name = "", text = ""] of page.matchAll(/^`(\w+\.tsv)`:\n\n```tsv\n([\s\S]*?)```$/gm)) {
    writeFileSync(path.join(folder, name), text)
  }
}

export const [low, high] = ["cream_us_midwest_price_min_weekly", "cream_us_midwest_price_max_weekly"] as const
export const switchedOff = feedNamed("gov-mars/1041")
const renamed = feedNamed("gov-mars/1044")

/** What the example's own feed publishes. */
export const creams = [
  { metric_name: high, day: "2026-09-25", value_text: "0.74" },
  { metric_name: low, day: "2026-09-25", value_text: "0.59" }
]
export const gone =
  "Neither LARDER_CATALOG nor this version of Larder has a line of it: no run reads it, and its values stay."

/** The payloads of a day. From the second day on, report 1044 has another name for its region. */
const bodiesOf = (day: number) => ({
  ...everyFeed(),
  ...(day === 1 ? {} : { [renamed.feed]: bodyOf(renamed, [aRange(1044, { region: "Upper Midwest" })]) })
})
const cream = marsBody([
  {
    ...aRange(1044),
    slug_id: 9001,
    slug_name: "AMS_9001",
    report_title: "Cream - Midwest U.S.",
    region: "Midwest",
    commodity: "Cream"
  }
])

/** Hosts that have the reports of a day, and runs that read them. */
export const startHosts = () => {
  const requested: Array<string> = []
  let day = 1
  const hosts = createServer(({ url = "" }, response) => {
    const { pathname } = new URL(url, "http://localhost")
    const host = pathname.startsWith("/services/v1.2/") ? "marsapi" : "mpr.datamart"
    const feed = pathname.endsWith("/9001") ? "gov-mars/9001" : feedAt(`/${host}.ams.usda.gov${url}`)
    requested.push(feed)
    const bodies: Readonly<Record<string, string>> = { ...bodiesOf(day), "gov-mars/9001": cream }
    response.writeHead(200, { "content-type": "application/json" }).end(bodies[feed])
  })
  const listening = new Promise<string>((resolve) =>
    hosts.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(hosts.address() as AddressInfo).port}`))
  )
  const runDay = async (now: number, home: string, settings: Environment = {}, pipeline = commodities) => {
    day = now
    requested.length = 0
    const url = await listening
    const environment = { MARS_API_KEY: "0123456789", LARDER_MARS_URL: url, LARDER_DATAMART_URL: url, ...settings }
    return ingestLive(pipeline, { home, environment })
  }
  return { requested, runDay, close: () => void hosts.close() }
}

/** What `ingest.freshness` says of metrics, in the order of their names. */
export const judge = async (home: string, ...names: ReadonlyArray<string>) => {
  const rows = await Effect.runPromise(
    Effect.flatMap(layoutOf(home), readFreshness).pipe(Effect.provide(NodeServices.layer))
  )
  return rows?.flatMap(({ late_at, state, subject, why }) => (names.includes(subject) ? [{ state, why, late_at }] : []))
}
