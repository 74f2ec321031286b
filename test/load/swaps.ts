/** Publishes and rolls back generations while clients call the servers. */
import { rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { openApi } from "@larder/schemas"
import { afterAll, beforeAll, expect, inject } from "vitest"
import { temporaryFolder } from "../end-to-end/ingesting.ts"
import { load } from "../end-to-end/small-releases.ts"
import { makeResponseCheck } from "../support/api/check-response.ts"
import { addGeneration } from "../support/more-generations.ts"
import { goodZip } from "../support/pipelines/small-releases.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { type Environment, newKey, run, type Server, startServer, waitUntilServed } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

const prices = "/v1/commodities/prices?series=butter-exch-spot-close-daily&from=2026-09-01"
const foods = "/v1/branded-foods?name=food+50000&limit=50"
const targets = [prices, foods, "/v1/stores", "/v1/branded-foods/categories"]
/** Trading days after the end of the bundled samples. */
const days = ["2026-09-30", "2026-10-01", "2026-10-02", "2026-10-05", "2026-10-06"] as const
/** The three foods of each release have the ids after this number. */
const releases = [5_000_000, 5_000_010, 5_000_020, 5_000_030, 5_000_040]

/** A depot that all programs share, each with its own home. */
export interface SharedDepot {
  readonly environment: Environment
  readonly stop: () => void
}

interface Response {
  readonly target: string
  readonly status: number
  readonly version: string
  readonly headers: Headers
  readonly text: string
}

/**
 * Registers hooks, and returns the test. Each round publishes commodities and branded foods; at the end, both are rolled
 * back. All the time, callers keep two servers busy, or four that follow a depot.
 */
export const swapsUnderLoad = (rounds: number, callers: number, startDepot?: () => Promise<SharedDepot>) => {
  let home: string
  let key: string
  let depot: SharedDepot | undefined
  const homes: Array<string> = []
  const servers: Array<Server> = []
  const ingest = async (...args: ReadonlyArray<string>) => {
    const { code, stderr } = await run("larder-ingest", args, { LARDER_HOME: home, ...depot?.environment })
    expect(code, stderr).toBe(0)
  }
  beforeAll(async () => {
    home = copyHome(inject("sampleHome"))
    depot = await startDepot?.()
    if (depot !== undefined) await ingest("pull") // fills the depot from this home
    const environment = { ...depot?.environment, LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) }
    key = (await newKey(home, { budget: "10000", usd: "10000", environment })).key
    homes.push(...(depot === undefined ? [home, home] : Array.from({ length: 4 }, temporaryFolder)))
    for (const serverHome of homes) servers.push(await startServer(serverHome, environment))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    depot?.stop()
    for (const folder of [home, ...homes]) rmSync(folder, { recursive: true, force: true })
  })

  const call = async (server: Server, target: string): Promise<Response> => {
    const response = await fetch(server.api + target, { headers: { authorization: `Bearer ${key}` } })
    const { headers, status } = response
    return { target, status, version: headers.get("x-data-version") ?? "", headers, text: await response.text() }
  }

  /** The part of a response in which the generations of a data set differ. */
  const findMark = ({ target, text }: Response) => {
    const { data } = JSON.parse(text)
    if (target === prices) return data[0].points.at(-1).date
    return data.map(({ description }: { readonly description: string }) => description).toSorted()
  }
  const listFoods = (...releases: ReadonlyArray<number>) =>
    releases.flatMap((release) => [1, 2, 3].map((id) => `FOOD ${release + id}`)).toSorted()

  return async () => {
    const responses: Array<Response> = []
    const expected = new Map<string, unknown>([
      [`larder-000001 ${prices}`, "2026-09-29"],
      [`larder-000002 ${foods}`, []]
    ])
    let number = 3
    const expectNext = async (target: string, mark: unknown) => {
      const generation = `larder-${String(++number).padStart(6, "0")}`
      expected.set(`${generation} ${target}`, mark)
      for (const server of servers) {
        await waitUntilServed(server, generation)
        responses.push(await call(server, target))
      }
    }

    let isCalling = true
    const caller = async (offset: number) => {
      for (let n = offset; isCalling; n++) {
        const target = targets[Math.floor(n / servers.length) % targets.length] as string
        responses.push(await call(servers[n % servers.length] as Server, target))
      }
    }
    const calling = Array.from({ length: callers }, (_, index) => caller(index))
    try {
      const release = path.join(home, "release.zip")
      writeFileSync(release, goodZip(releases[0]).subarray(0, 300))
      const failed = await load(home, release, depot?.environment)
      expect([failed.code, failed.stderr]).toEqual([
        1,
        expect.stringMatching(/release\.zip cannot be read: it was cut off/)
      ])
      number++ // a failed run is recorded, and changes no data set
      for (const [round, day] of days.slice(0, rounds).entries()) {
        await addGeneration(home, [day], depot?.environment)
        await expectNext(prices, day)
        writeFileSync(release, goodZip(releases[round]))
        const { code, stderr } = await load(home, release, depot?.environment)
        expect(code, stderr).toBe(0)
        await expectNext(foods, listFoods(...releases.slice(0, round + 1)))
      }
      await ingest("rollback", "--only", "commodities")
      await expectNext(prices, days[rounds - 2] ?? "2026-09-29")
      await ingest("rollback", "--only", "branded-foods")
      await expectNext(foods, listFoods(...releases.slice(0, rounds - 1)))
    } finally {
      isCalling = false
      await Promise.all(calling)
    }

    expect(responses.filter(({ status }) => status !== 200)).toEqual([])
    const responsesByName = Map.groupBy(responses, ({ target, version }) => `${version} ${target}`)
    for (const same of responsesByName.values()) expect(new Set(same.map(({ text }) => text)).size).toBe(1)
    const findNames = (target: string) => [...responsesByName.keys()].filter((name) => name.endsWith(` ${target}`))
    const first = (name: string) => findMark(responsesByName.get(name)?.[0] as Response)
    const found = [prices, foods].flatMap(findNames).map((name) => [name, first(name)] as const)
    expect(new Map(found.toSorted())).toEqual(new Map([...expected].toSorted()))
    expect(findNames("/v1/stores")).toHaveLength(1)
    // Only one in a hundred: checking a response takes longer than the request.
    const { check } = makeResponseCheck(openApi())
    for (const { headers, status, target, text } of responses.filter((_, index) => index % 100 === 0)) {
      const reply = { status, headers: Object.fromEntries(headers), text, json: JSON.parse(text) }
      check("GET", target.split("?", 1)[0] as string, reply)
    }
  }
}
