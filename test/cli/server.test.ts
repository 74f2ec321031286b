import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, inject, it } from "vitest"
import { makeClient } from "../support/api/client.ts"
import { createKey, statement } from "../support/api/operator.ts"
import { run, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

const withHome = async <A>(home: string, use: (home: string) => Promise<A>) => {
  try {
    return await use(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

describe("larder-serve start", () => {
  it("exits with 1 and says how to make a warehouse when there is none", async () => {
    await withHome(mkdtempSync(path.join(tmpdir(), "larder-empty-")), async (home) => {
      const { code, stderr, stdout } = await run("larder-serve", ["start", "--json"], { LARDER_HOME: home })
      expect([code, stdout]).toEqual([1, ""])
      expect(stderr).toMatch(/no warehouse at .*larder\.duckdb yet\. Run: npx larder-ingest/)
    })
  })

  it.each(["LARDER_PORT", "LARDER_CONSOLE_PORT"])(
    "exits with 1 and names the setting %s when its port is taken",
    async (setting) => {
      const other = createServer()
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
      const address = other.address()
      const port = typeof address === "object" ? String(address?.port) : ""
      await withHome(copyHome(inject("sampleHome")), async (home) => {
        const settings = { LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0", [setting]: port }
        const { code, stderr, stdout } = await run("larder-serve", ["start", "--json"], settings)
        expect([code, stdout]).toEqual([1, ""])
        expect(stderr).toContain(`127.0.0.1:${port}`)
        expect(stderr).toContain(setting)
      })
      other.close()
    }
  )

  it("has every charge that it announced in the ledger after SIGTERM", async () => {
    await withHome(copyHome(inject("sampleHome")), async (home) => {
      const server = await startServer(home)
      expect(server.api).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/) // loopback unless told otherwise
      const { account_id, key } = await createKey(home)
      const client = await makeClient(server.api)
      await Promise.all(Array.from({ length: 8 }, () => client.call("/v1/commodities?limit=500", { key })))
      const stopped = server.stop()
      client.close()
      expect(await stopped).toBe(130)
      await expect(fetch(`${server.api}/openapi.json`)).rejects.toThrow()
      const charges = (await statement(home, account_id)).filter(({ type }) => type === "charge")
      expect(charges.map(({ request_id }) => request_id).toSorted()).toEqual(
        client.charges.map(({ request_id }) => request_id).toSorted()
      )
    })
  })
})
