/** Programs of several versions share a warehouse: while runs publish, each server serves what its version can read. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { generationOf, query, removeFolder, replay, runStatus, temporaryFolder } from "../end-to-end/ingesting.ts"
import { makeLedgerSettings } from "../support/api/ledger-settings.ts"
import { createKey } from "../support/api/operator.ts"
import { aLabel, ingestLabels } from "../support/label-releases.ts"
import { aClose, bodyOf, everyFeed, feedNamed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { run, type Server, startServer, waitUntilServed } from "../support/programs.ts"

const preload = new URL("../support/warehouse/another-version.ts", import.meta.url).href
const versionSettings = (version: number) =>
  version === 1 ? {} : { NODE_OPTIONS: `--import=${preload}`, TEST_VERSION: String(version) }

const closes = feedNamed("gov-mars/1603")
const home = temporaryFolder()
const recordings = temporaryFolder()
const ingest = (version: number, ...args: ReadonlyArray<string>) =>
  run("larder-ingest", args, { LARDER_HOME: home, ...versionSettings(version) })
const publishClose = (version: number, close_price: number, report_date: string) => {
  writeRecordings(recordings, { ...everyFeed(), [closes.feed]: bodyOf(closes, [aClose({ report_date, close_price })]) })
  return ingest(version, "commodities", "--replay", recordings)
}

let key = ""
let ledger: Readonly<Record<string, string>> = {}
const servers: Array<Server> = []
/** Starts a server of a version. All servers share a ledger. */
const serve = async (version: number): Promise<Server> => {
  const server = await startServer(home, { ...versionSettings(version), ...ledger })
  servers.push(server)
  return server
}

/** The generation and the data of a response. */
const get = async ({ api }: Server, target: string) => {
  const response = await fetch(`${api}${target}`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await response.json()) as { readonly data: ReadonlyArray<unknown> }
  return [response.headers.get("x-data-version"), data]
}
const getCloses = (server: Server) =>
  get(server, "/v1/commodities/prices?series=butter-exch-spot-close-daily&from=2026-09-01")
const closePoints = (...points: ReadonlyArray<readonly [date: string, value: number]>) => [
  {
    slug: "butter-exch-spot-close-daily",
    unit: "USD/lb",
    points: points.map(([date, value]) => ({ date, value }))
  }
]
const readReadiness = async ({ console }: Server) => {
  const response = await fetch(`${console}/readyz`)
  const { fault, missing } = (await response.json()) as Readonly<Record<string, unknown>>
  return { status: response.status, fault, missing }
}
/** The readiness of a server that still serves older commodities. */
const degradedReadiness = (generation: string, missing: ReadonlyArray<string>) => ({
  status: 200,
  fault: `commodities of ${generation} cannot be served: see the log`,
  missing
})

describe("upgrading the programs one after the other", () => {
  beforeAll(async () => {
    expect((await replay(home, everyFeed())).code).toBe(0)
    ledger = await makeLedgerSettings(home)
    key = (await createKey(home)).key
  })
  afterAll(async () => {
    await Promise.all(servers.map(({ stop }) => stop()))
    for (const folder of [home, recordings]) removeFolder(folder)
  })
  let next: Server // version 2
  const september = ["2026-09-29", 1.39] as const
  const october = ["2026-10-01", 1.5] as const
  const newerVersionMessage =
    "commodities was published with tables of version 2, and this version of Larder supports versions up to 1. Update Larder on this machine, servers first."

  it("keeps servers of both versions serving after a new column and a new table, and only the newer program publishes", async () => {
    const old = await serve(1)
    next = await serve(2)
    for (const server of [old, next]) expect(await getCloses(server)).toEqual(["larder-000001", closePoints(september)])
    expect((await publishClose(2, 1.5, "10/01/2026")).code).toBe(0)
    await waitUntilServed(next, "larder-000002")
    expect(await getCloses(next)).toEqual(["larder-000002", closePoints(september, october)])

    const refused = await publishClose(1, 1.6, "10/02/2026")
    expect([refused.code, refused.stdout]).toEqual([1, ""])
    expect(refused.stderr).toContain(newerVersionMessage)
    expect(generationOf(home, "commodities")).toBe("larder-000002")

    await ingestLabels(home, "csv", [aLabel({ fdc_id: 4_000_000 })])
    await Promise.all([old, next].map((server) => waitUntilServed(server, "larder-000004")))
    expect(await readReadiness(old)).toEqual(degradedReadiness("larder-000002", ["storefronts"]))
    expect(old.logs()).toContain(newerVersionMessage)
    expect(await getCloses(old)).toEqual(["larder-000001", closePoints(september)])
    for (const server of [old, next]) {
      const [generation, labels] = await get(server, "/v1/branded-foods?name=e")
      expect([generation, labels]).toEqual(["larder-000004", [expect.anything()]])
    }
    await runStatus(home) // by the older program, which does not change the catalogue of the newer server
    expect(
      (await query(home, "select colour, count(*)::integer as series from commodity.series group by all"))[0]
    ).toEqual([{ colour: null, series: expect.any(Number) }])
  })

  it("keeps the other data sets served after a changed type and a removed table, until a rebuild restores commodities", async () => {
    const last = await serve(3)
    expect(await readReadiness(last)).toEqual(degradedReadiness("larder-000002", ["commodities", "storefronts"]))
    expect((await get(last, "/v1/branded-foods?name=e"))[0]).toBe("larder-000004")
    for (const output of [last.logs(), (await publishClose(3, 1.6, "10/02/2026")).stderr]) {
      expect(output).toContain(
        "column commodity.note.text is VARCHAR not null at position 1 in the live data, but missing in this version"
      )
      expect(output).toContain(
        "column commodity.series.position is INTEGER not null at position 7 in the live data, but SMALLINT not null at position 7 in this version"
      )
      expect(output).toContain("npx larder-ingest rebuild commodities")
    }
    expect(generationOf(home, "commodities")).toBe("larder-000002")

    expect((await ingest(3, "rebuild", "commodities")).code).toBe(0)
    await Promise.all([last, next].map((server) => waitUntilServed(server, "larder-000006")))
    expect(await getCloses(last)).toEqual(["larder-000006", closePoints(september, october)])
    expect(await readReadiness(last)).toEqual({ status: 200, missing: ["storefronts"] })
    expect(await readReadiness(next)).toEqual(degradedReadiness("larder-000006", ["storefronts"]))
    expect(await getCloses(next)).toEqual(["larder-000002", closePoints(september, october)])
  })
})
