/** A server's responses do not depend on the time zone, the language, the folder and the address that it runs with. */
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { sendOnce } from "../support/api/client.ts"
import { admin, newKey, type Server, startServer } from "../support/programs.ts"

const surroundings = {
  "in UTC": { folder: "home", environment: { TZ: "UTC", LC_ALL: "C" } },
  elsewhere: {
    folder: `it's "quoted" $(id) & 100 % more`,
    environment: { TZ: "Asia/Kolkata", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8", LARDER_HOST: "::1" }
  }
} as const

const targets = [
  "/v1/commodities/prices?series=cheese-block-sales-price-weekly,butter-exch-spot-close-daily",
  "/v1/commodities/metric-values?metrics=cheese_block_sales_price_weekly&to=2026-02-28",
  "/v1/commodities?category=dairy&limit=500",
  "/v1/branded-foods?name=I%C4%B0%C4%B1i&limit=5",
  "/v1/branded-foods?ingredient=MILK&limit=5",
  "/v1/stores?query=I",
  "/v1/commodities/prices?series=none"
]

describe("two servers over the same samples", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-surroundings-"))
  const servers: Array<Server> = []
  afterAll(async () => {
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const callEach = async ({ environment, folder: name }: (typeof surroundings)[keyof typeof surroundings]) => {
    const home = path.join(folder, name)
    cpSync(path.join(inject("sampleHome"), "warehouse"), path.join(home, "warehouse"), {
      recursive: true,
      verbatimSymlinks: true
    })
    const server = await startServer(home, environment)
    servers.push(server)
    const { account_id, key } = await newKey(home, { environment })
    const replies = []
    for (const target of targets) {
      const { headers, status, text } = await sendOnce(server.api, target, { key })
      replies.push([target, status, headers["x-data-version"], text])
    }
    const [account] = await admin<ReadonlyArray<{ readonly id: string; readonly balance_credits: number }>>(
      home,
      ["accounts", "list"],
      environment
    )
    expect(account).toMatchObject({ id: account_id, balance_credits: 4_940 - 100 + 10 })
    return replies
  }

  let expected: Awaited<ReturnType<typeof callEach>>
  beforeAll(async () => {
    expected = await callEach(surroundings["in UTC"])
  })

  it("send the same bytes in another time zone and language, from a folder with quotes, on IPv6", async () => {
    expect(await callEach(surroundings.elsewhere)).toEqual(expected)
    expect(expected.map(([, status]) => status)).toEqual([200, 200, 200, 200, 200, 200, 400])
  })
})
