import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir, userInfo } from "node:os"
import path from "node:path"
import { describe, expect, inject, it } from "vitest"
import { makeClient } from "../support/api/client.ts"
import { createKey, listEntries } from "../support/api/operator.ts"
import { cleanEnvironment, collectText, run, startServer, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { copyHome } from "../support/sample-home.ts"

const withHome = async <A>(home: string, use: (home: string) => Promise<A>) => {
  try {
    return await use(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

interface LogLine {
  readonly at: string
  readonly level: string
  readonly event: string
}
/** Fails if a line of stderr is not one of the log. */
const readLog = (stderr: string): ReadonlyArray<LogLine> =>
  stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
describe("npm start", () => {
  it("ingests if only a failed run is recorded", async () => {
    await withHome(mkdtempSync(path.join(tmpdir(), "larder-failed-")), async (home) => {
      const failed = await run("larder-ingest", ["commodities", "--replay", home], { LARDER_HOME: home })
      expect(failed.code).toBe(1)
      const { stdout } = await run("larder-ingest", ["generations"], { LARDER_HOME: home })
      expect(stdout).toContain("commodities: failed")
      const start = spawn(process.execPath, [path.join(repository, "bin/start.mjs")], {
        env: cleanEnvironment({ LARDER_HOME: home, LARDER_SOURCES: "no such source" }),
        stdio: ["ignore", "pipe", "pipe"]
      })
      const { code, problems, stderr } = await waitForExit(start)
      expect([code, problems]).toEqual([2, expect.stringContaining("in LARDER_SOURCES")])
      expect(readLog(stderr)).toHaveLength(1)
    })
  })
})

/** Adds a warning in each thread to the start of a program. */
const warnings = `setTimeout(() => process.emitWarning("a warning"), 500)`
const lateError = `setTimeout(() => { throw new Error("not handled") }, 500)`
const importing = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })

describe("the output of larder-serve start", () => {
  it("is one JSON document on stdout and JSON lines on stderr, with each change of a command once, and its user", async () => {
    await withHome(copyHome(inject("sampleHome")), async (home) => {
      const server = await startServer(home, importing(warnings), ["--demo"])
      const stdout = collectText(server.child.stdout)
      const command = (...args: ReadonlyArray<string>) =>
        run("larder-serve", [...args, "--json"], { LARDER_HOME: home })
      const created = await command("accounts", "create", "--name", "Ann")
      const { id } = JSON.parse(created.stdout)
      const invited = await command("people", "invite", "--account", id, "--email", "ann@example.com")
      await run("larder-serve", ["ledger", "verify"], { LARDER_HOME: home }) // starts a thread
      await server.stop()
      expect([created.stderr, invited.stderr, stdout()]).toEqual(["", "", ""])
      const lines = readLog(server.logs())
      expect(lines.filter(({ at, event, level }) => !(at && event && level))).toEqual([])
      const warned = lines.filter(({ event, level }) => level === "WARN" && event === "Warning: a warning")
      expect(warned.length).toBeGreaterThanOrEqual(2)
      const who = `command ${userInfo().username}`
      expect(lines.filter((line) => "who" in line && line.who !== "server")).toEqual([
        expect.objectContaining({ event: "account created", who, account: id, before: null }),
        expect.objectContaining({ event: "person invited", who, account: id, before: null })
      ])
      expect(server.logs()).not.toMatch(/svc_data_|\/invitation\/|ann@example/)
    })
  })

  it("has an error that nothing handles as a line of the log, and the code is 1", async () => {
    await withHome(copyHome(inject("sampleHome")), async (home) => {
      const settings = { LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0", ...importing(lateError) }
      const { code, problems, stderr } = await run("larder-serve", ["start", "--json"], settings)
      expect([code, problems]).toEqual([1, expect.stringMatching(/^the process ends: an error was not handled$/m)])
      expect(stderr).toContain("Error: not handled")
    })
  })

  it("is the same from npm start with --json after --", async () => {
    await withHome(copyHome(inject("sampleHome")), async (home) => {
      const child = spawn(process.execPath, [path.join(repository, "bin/start.mjs"), "--json"], {
        env: cleanEnvironment({ LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }),
        stdio: ["ignore", "pipe", "pipe"]
      })
      child.stdout.once("data", () => child.kill())
      const { stderr, stdout } = await waitForExit(child)
      expect(JSON.parse(stdout)).toMatchObject({ demo_key: expect.stringMatching(/^svc_data_/) })
      expect(readLog(stderr)).not.toEqual([])
    })
  })
})

describe("larder-serve start", () => {
  it("exits with 1 and explains how to make a warehouse if there is none", async () => {
    await withHome(mkdtempSync(path.join(tmpdir(), "larder-empty-")), async (home) => {
      const { code, problems, stdout } = await run("larder-serve", ["start", "--json"], { LARDER_HOME: home })
      expect([code, stdout]).toEqual([1, ""])
      expect(problems).toMatch(/^larder-serve: There is no data in .*warehouse yet\. Run: npx larder-ingest\n$/)
    })
  })

  const newestManifest = (home: string) => path.join(home, "warehouse/generations/000000003.json")
  /** Changes a read-only file. */
  const rewrite = (file: string, change: (text: string) => string) => {
    chmodSync(file, 0o644)
    writeFileSync(file, change(readFileSync(file, "latin1")), "latin1")
  }
  const findDatabase = (home: string, pipeline: string) => {
    const [{ sha256 }] = JSON.parse(readFileSync(newestManifest(home), "utf8")).data_sets[pipeline].parts
    return path.join(home, "warehouse/objects", sha256.slice(0, 2), sha256)
  }

  it.each<readonly [string, (home: string) => void, RegExp]>([
    [
      "data whose parts are missing",
      (home) => rmSync(path.join(home, "warehouse/objects"), { recursive: true }),
      /commodities\.duckdb of commodities \(.+\) is missing\. It is not used\. Rebuild it .*larder-ingest rebuild commodities; or go back with: npx larder-ingest rollback --only commodities$/
    ],
    [
      "a warehouse in an earlier format",
      (home) => writeFileSync(path.join(home, "warehouse/larder-000012.duckdb"), ""),
      /warehouse contains a warehouse in an earlier format \(larder-000012\.duckdb\)\. Nothing was changed\. Move this folder aside, .*larder-ingest rebuild$/
    ],
    [
      "a damaged manifest",
      (home) => rewrite(newestManifest(home), (text) => text.slice(0, 100)),
      /generations\/000000003\.json in .+ is damaged\. Restore it from a backup; nothing was changed\.$/
    ]
  ])("exits with 1 and one message for %s", async (_, damage, message) => {
    await withHome(copyHome(inject("sampleHome")), async (home) => {
      damage(home)
      const settings = { LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }
      const { code, problems, stdout } = await run("larder-serve", ["start", "--json"], settings)
      expect([code, stdout]).toEqual([1, ""])
      expect(problems.trimEnd()).toMatch(message)
    })
  })

  it("skips a data set with a changed part and one of a newer version, explains both, and serves the others", async () => {
    await withHome(copyHome(inject("sampleHome")), async (home) => {
      const { key } = await createKey(home)
      rewrite(findDatabase(home, "commodities"), (text) => `${text.slice(0, -1)}x`)
      rewrite(newestManifest(home), (text) =>
        text.replaceAll(/"schema":1(,"definition":"\w+","mapping":\d+,"published_in":2)/g, '"schema":9$1')
      )
      const server = await startServer(home)
      const client = await makeClient(server.api)
      expect((await client.call("/v1/stores", { key })).status).toBe(200)
      client.close()
      const ready = (await (await fetch(`${server.console}/readyz`)).json()) as { readonly fault: string }
      expect(ready.fault).toMatch(
        /^commodities of larder-\d+ cannot be served; branded-foods of larder-\d+ cannot be served \(branded-foods was published with tables of version 9, .+ servers first\.\): see the log$/
      )
      await server.stop()
      expect(server.logs()).toMatch(
        /commodities\.duckdb of commodities \(.+\) was changed after it was published: its SHA-256 differs\. It is not used\. Rebuild it .*larder-ingest rebuild commodities; or go back with: npx larder-ingest rollback --only commodities/
      )
      expect(server.logs()).toMatch(
        /branded-foods was published with tables of version 9, and this version of Larder supports versions up to 1\. Update Larder on this machine, servers first\./
      )
      expect(server.logs().match(/cannot be served; nothing is served instead/g)).toHaveLength(2)
    })
  })

  it.each(["LARDER_PORT", "LARDER_CONSOLE_PORT"])(
    "exits with 1 and names the setting %s if its port is taken",
    async (setting) => {
      const other = createServer()
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
      const address = other.address()
      const port = typeof address === "object" ? String(address?.port) : ""
      await withHome(copyHome(inject("sampleHome")), async (home) => {
        const settings = { LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0", [setting]: port }
        const { code, problems, stdout } = await run("larder-serve", ["start", "--json"], settings)
        expect([code, stdout]).toEqual([1, ""])
        expect(problems).toMatch(`127.0.0.1:${port}`)
        expect(problems).toMatch(setting)
      })
      other.close()
    }
  )

  it("has every reported charge in its ledger after SIGTERM, and exits with 0", async () => {
    await withHome(copyHome(inject("sampleHome")), async (home) => {
      const server = await startServer(home)
      expect(server.api).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/) // loopback by default
      const { account_id, key } = await createKey(home)
      const client = await makeClient(server.api)
      await Promise.all(Array.from({ length: 8 }, () => client.call("/v1/commodities?limit=500", { key })))
      const stopped = server.stop()
      client.close()
      expect(await stopped).toBe(0)
      await expect(fetch(`${server.api}/openapi.json`)).rejects.toThrow()
      const charges = (await listEntries(home, account_id)).filter(({ type }) => type === "charge")
      expect(charges.map(({ request_id }) => request_id).toSorted()).toEqual(
        client.charges.map(({ request_id }) => request_id).toSorted()
      )
    })
  })
})
