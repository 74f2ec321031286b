/** The settings of both programs: unknown names, and what `config` prints. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { settingSections } from "@larder/schemas/settings.ts"
import { afterAll, describe, expect, it } from "vitest"
import { type Environment, type Program, run } from "../support/programs.ts"

const folder = mkdtempSync(path.join(tmpdir(), "larder-settings-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const home = path.join(folder, "home")

interface Described {
  readonly name: string
  readonly value: string | null
  readonly from: string
}
const readConfig = async (program: Program, environment: Environment) => {
  const { code, problems, stdout } = await run(program, ["config", "--json"], { LARDER_HOME: home, ...environment })
  const rows = JSON.parse(stdout) as ReadonlyArray<Described>
  return { code, problems, stdout, rows, find: (name: string) => rows.find((row) => row.name === name) }
}

describe("a misspelled setting", () => {
  it.each([
    ["larder-ingest", ["commodities"]],
    ["larder-serve", ["start"]]
  ] as const)("ends %s %j with exit code 2, before anything is written", async (program, args) => {
    const { code, problems, stdout } = await run(program, args, { LARDER_HOME: home, LARDER_SOURCE: "live" })
    expect([code, stdout]).toEqual([2, ""])
    expect(problems).toBe(
      `${program}: A setting cannot be used: there is no LARDER_SOURCE. Did you mean LARDER_SOURCES?\n`
    )
    expect(existsSync(home)).toBe(false)
  })
})

describe.runIf(process.platform === "linux")("a LARDER_HOME in which no folder can be created", () => {
  it.each([
    ["larder-ingest", ["commodities"], /\/proc\/larder.* cannot be created or written: ENOENT.*Set LARDER_HOME/],
    ["larder-serve", ["accounts", "list"], /\/proc\/larder/]
  ] as const)("ends %s %j with an error", async (program, args, problem) => {
    const { code, problems } = await run(program, args, { LARDER_HOME: "/proc/larder" })
    expect(code).toBe(1)
    expect(problems).toMatch(problem)
  })
})

describe("config", () => {
  it.each(["larder-ingest", "larder-serve"] as const)("of %s prints each of its settings once", async (program) => {
    const { code, rows } = await readConfig(program, {})
    expect(code).toBe(0)
    const own = settingSections.filter(({ programs }) => programs.includes(program))
    expect(rows.map(({ name }) => name)).toEqual(own.flatMap(({ settings }) => Object.keys(settings)))
    expect(rows[0]).toEqual({ name: "LARDER_HOME", value: home, from: "environment" })
    expect(existsSync(home)).toBe(false)
  })

  it("prints what is in force, and where it comes from", async () => {
    const key = path.join(folder, "key")
    writeFileSync(key, "geheim\n")
    const { find, stdout } = await readConfig("larder-ingest", {
      MARS_API_KEY_FILE: key,
      LARDER_SOURCES: "live",
      LARDER_KEPT_GENERATIONS: "9",
      https_proxy: "http://user:geheim@proxy.example.com:3128"
    })
    expect(find("MARS_API_KEY")).toMatchObject({ value: "set", from: "file" })
    expect(find("LARDER_KEPT_GENERATIONS")).toMatchObject({ value: "9", from: "environment" })
    expect(find("LARDER_STORE_MAX_INTERVAL")).toMatchObject({ value: "7 days", from: "default" })
    expect(find("HTTPS_PROXY")).toMatchObject({ value: "http://proxy.example.com:3128", from: "environment" })
    expect(find("LARDER_CONTACT")).toMatchObject({ value: null, from: "default" })
    expect(stdout).not.toContain("geheim")
  })

  it("prints secrets as set or unset, and addresses without their user, password and query", async () => {
    const environment = {
      LARDER_LEDGER_URL: "postgres://larder:geheim@db.example.com/larder?options=geheim",
      LARDER_STRIPE_KEY: "sk_test_geheim",
      AWS_SECRET_ACCESS_KEY: "geheim"
    }
    const { find, stdout } = await readConfig("larder-serve", environment)
    expect(find("LARDER_LEDGER_URL")?.value).toBe("postgres://db.example.com/larder")
    expect(find("LARDER_STRIPE_KEY")?.value).toBe("set")
    expect(find("LARDER_STRIPE_WEBHOOK_SECRET")?.value).toBe("unset")
    const text = await run("larder-serve", ["config"], { LARDER_HOME: home, ...environment })
    expect(text.stdout).toMatch(/^LARDER_STRIPE_KEY +set +environment$/m)
    expect(text.stdout).toMatch(/^LARDER_CONSOLE_HOST +LARDER_HOST +default$/m)
    expect(stdout + text.stdout).not.toContain("geheim")
  })

  it.each([
    ["larder-ingest", { LARDER_SOURCES: "internet" }, /"sample" \| "live".*LARDER_SOURCES/],
    ["larder-ingest", { LARDER_STORE_MAX_INTERVAL: "often" }, /LARDER_STORE_MAX_INTERVAL/],
    ["larder-ingest", { LARDER_DEPOT: "gs://bucket" }, /gs:\/\/ is not supported/],
    ["larder-ingest", { LARDER_MARS_URL: "http://mirror.example.com" }, /LARDER_MARS_URL must be https:\/\/host/],
    ["larder-ingest", { LARDER_NOTIFY_URL: "http://hooks.example.com/x" }, /LARDER_NOTIFY_URL must be https:/],
    ["larder-serve", { LARDER_NOTIFY_URL: "http://hooks.example.com/x" }, /LARDER_NOTIFY_URL must be https:/],
    ["larder-serve", { LARDER_KEPT_GENERATIONS: "few" }, /LARDER_KEPT_GENERATIONS/],
    ["larder-serve", { LARDER_SIMULATE_PAYMENTS: "maybe" }, /LARDER_SIMULATE_PAYMENTS/],
    ["larder-serve", { LARDER_LEDGER_URL: "postgres://me:a@b/c@db.example.com/l" }, /must have .* as %2F %3F %23 %40/],
    ["larder-serve", { LARDER_DEPOT_POLL: "often" }, /LARDER_DEPOT_POLL/],
    ["larder-serve", { LARDER_KEPT_REQUESTS: "99" }, /between 100 and 100000.*LARDER_KEPT_REQUESTS/],
    ["larder-serve", { LARDER_STRIPE_KEY: "pk_live_1" }, /LARDER_STRIPE_KEY is not a Stripe secret key/]
  ] as const)("of %s prints all settings and fails with %j", async (program, environment, problem) => {
    const { code, problems, rows } = await readConfig(program, environment)
    expect(rows.length).toBeGreaterThan(20)
    expect(code).toBe(2)
    expect(problems).toMatch(problem)
    expect(readdirSync(folder)).not.toContain("home")
  })
})
