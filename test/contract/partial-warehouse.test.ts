/** A server whose warehouse holds no commodities: whatever data set is there, the others answer as if they were empty. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Client, makeClient } from "../support/api/client.ts"
import { createKey } from "../support/api/operator.ts"
import { errorOf } from "../support/api/served.ts"
import { type Server, startServer } from "../support/programs.ts"

let home: string
let server: Server
let client: Client
let key: string
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), "larder-partial-"))
  const folder = path.join(home, "warehouse")
  mkdirSync(folder)
  const generation = Effect.flatMap(DuckDb.readWrite(path.join(folder, "larder-000007.duckdb")), (db) =>
    db.run("create schema storefront")
  )
  await Effect.runPromise(Effect.scoped(generation))
  symlinkSync("larder-000007.duckdb", path.join(folder, "larder.duckdb"))
  server = await startServer(home)
  client = await makeClient(server.api)
  key = (await createKey(home)).key
})
afterAll(async () => {
  client.close()
  await server.stop()
  rmSync(home, { recursive: true, force: true })
})

describe("a warehouse without commodities", () => {
  it("is served, and /readyz names what is missing", async () => {
    const response = await fetch(`${server.console}/readyz`)
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: "ready", generation: "larder-000007", missing: expect.arrayContaining(["commodities"]) }
    ])
  })

  it.each([
    ["/v1/commodities", '{"data":[]}'],
    ["/v1/commodities?commodity=butter", '{"data":[]}'],
    ["/v1/commodities?limit=10", '{"data":[],"next_cursor":null}'],
    ["/v1/commodities?category=dairy", '{"data":[],"next_cursor":null}']
  ])("answers empty catalogs: %s", async (target, text) => {
    const reply = await client.call(target, { key })
    expect([reply.status, reply.text, reply.headers["x-data-version"]]).toEqual([200, text, "larder-000007"])
  })

  it("knows no series and no metric", async () => {
    const at = (target: string) => client.call(target, { key })
    expect(errorOf(await at("/v1/commodities/prices?series=butter-sales-price-weekly"))).toBe(
      "400 invalid_request: Unknown series: butter-sales-price-weekly"
    )
    expect(errorOf(await at("/v1/commodities/metric-values?metrics=a,b"))).toBe(
      "400 invalid_request: Unknown metrics: a, b"
    )
  })
})
