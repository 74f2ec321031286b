/** The examples that call the API, with the documented commands, through a proxy that fails once. */
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { useSharedServer } from "../support/api/server.ts"
import { type Ended, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { startEmptyApi, startFailingProxy } from "./failing-proxy.ts"

const api = useSharedServer()
let proxy: Awaited<ReturnType<typeof startFailingProxy>>
beforeAll(async () => {
  proxy = await startFailingProxy(api.client())
})
afterAll(() => proxy?.close())

const installHints: Readonly<Record<string, string>> = {
  python3: "apt-get install python3, or python.org",
  curl: "apt-get install curl, or curl.se"
}

/** The documented commands of the examples, by file. */
const parseCommands = (file: string) =>
  new Map(
    readFileSync(path.join(repository, file), "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, name] = /^(?:[\w ]+ )examples\/([\w.]+)$/.exec(line) ?? []
        return name === undefined ? [] : [[name, line] as const]
      })
  )
const documented = parseCommands("examples/README.md")
const requiredPrograms: Readonly<Record<string, string>> = {
  "curl.sh": "curl",
  "larder.ts": "npx",
  "larder.py": "python3"
}

/** The PATH without the folders that npm adds for its scripts: `npx node` must work even if the machine's Node is older. */
const ownPath = (process.env.PATH ?? "")
  .split(path.delimiter)
  .filter((folder) => !/node_modules|node-gyp-bin/.test(folder))
  .join(path.delimiter)

/** Runs an example. Fails if a program that it needs is not installed, so that no example is skipped. */
const runExample = async (
  name: string,
  overrides: { readonly LARDER_URL?: string; readonly LARDER_API_KEY?: string } = {}
): Promise<Ended & { readonly requests: ReadonlyArray<string> }> => {
  const program = requiredPrograms[name] ?? name
  if (spawnSync(program, ["--version"]).error !== undefined) {
    throw new Error(`examples/${name} needs ${program}, which is not installed here: ${installHints[program]}`)
  }
  const settings = { LARDER_URL: `${proxy.url}/v1`, LARDER_API_KEY: api.key().key, ...overrides }
  const env = { ...process.env, PATH: ownPath, npm_config_loglevel: "error", ...settings }
  const command = documented.get(name) ?? `echo "examples/README.md has no command for ${name}" >&2; false`
  const child = spawn("sh", ["-c", command], { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] })
  return { ...(await waitForExit(child)), requests: proxy.takeRequests() }
}

/** Paths and queries, without the cursors. */
const hideCursors = (requests: ReadonlyArray<string>) =>
  requests.map((target) => target.replace(/cursor=[^&]+/, "cursor=…"))
const formatPricesTarget = (from: string, ...slugs: ReadonlyArray<string>) =>
  `/v1/commodities/prices?series=${slugs.join("%2C")}&from=${from}`

describe("the command that starts an example", () => {
  it("is the same in the guide and at the start of the file", () => {
    expect(documented.size).toBe(3)
    expect(parseCommands("serve/docs/guides/examples.md")).toEqual(documented)
    for (const [name, command] of documented) {
      expect(readFileSync(path.join(repository, "examples", name), "utf8").slice(0, 300)).toContain(command)
    }
  })
})

describe("an example that calls the API", () => {
  it("retries once and prints prices, foods, products and an error, in TypeScript", async () => {
    const { requests, code, stderr, stdout } = await runExample("larder.ts")
    expect([code, stderr]).toEqual([0, ""])
    const [store = ""] = requests.flatMap((target) => /platform_store_\w+/.exec(target) ?? [])
    const first = formatPricesTarget("2026-09-01", "cheese-block-sales-price-weekly", "butter-sales-price-weekly")
    expect(hideCursors(requests)).toEqual([
      first,
      first,
      "/v1/branded-foods?category=cheese&limit=200",
      "/v1/stores?query=bakery&limit=1",
      `/v1/stores/${store}/products?limit=3`,
      "/v1/commodities/prices?series=unobtainium"
    ])
    expect(stdout.split("\n")).toEqual([
      "cheese-block-sales-price-weekly: 1.4958 USD/lb on 2026-09-26",
      "butter-sales-price-weekly: 1.3871 USD/lb on 2026-09-26",
      "45 cheeses; the saltiest has 2760 mg of sodium per serving: CLASSIC FETA",
      expect.stringMatching(/^Harbour Bakery: .+, [\d.]+ GBP$/),
      expect.stringMatching(/^Harbour Bakery: .+, [\d.]+ GBP$/),
      expect.stringMatching(/^Harbour Bakery: .+, [\d.]+ GBP$/),
      "The list cost 100 credits",
      expect.stringMatching(/^400 invalid_request: Unknown series: unobtainium \(req_\w+\)$/),
      "4780 credits left",
      ""
    ])
  })

  it("retries once and prints prices with the digits as published, in Python", async () => {
    const { requests, code, stderr, stdout } = await runExample("larder.py")
    expect([code, stderr]).toEqual([0, ""])
    const first = formatPricesTarget("2026-08-29", "cheese-block-sales-price-weekly", "butter-sales-price-weekly")
    expect(hideCursors(requests)).toEqual([
      first,
      first,
      "/v1/branded-foods?category=cheese&limit=20",
      "/v1/branded-foods?category=cheese&limit=20&cursor=…",
      "/v1/branded-foods?category=cheese&limit=20&cursor=…",
      "/v1/branded-foods/data_branded_food_%3F"
    ])
    expect(stdout.split("\n")).toEqual([
      "cheese-block-sales-price-weekly: 1.6140 USD/lb on 2026-08-29",
      "butter-sales-price-weekly: 1.5125 USD/lb on 2026-08-29",
      "45 cheeses, 43 state their sodium; median 120 mg per serving",
      expect.stringMatching(/^the last page cost 10 credits, \d+ are left$/),
      expect.stringMatching(/^404 not_found: Unknown branded food: data_branded_food_\? \(req_\w+\)$/),
      ""
    ])
  })

  it("retries once and prints prices, pages and an error, with curl", async () => {
    const { requests, code, stderr, stdout } = await runExample("curl.sh")
    expect([code, stderr.replace(/curl: .*|Warning: .*|\s/g, "")]).toEqual([0, ""]) // curl reports the retry
    const first = formatPricesTarget("2026-08-29", "cheese-block-sales-price-weekly")
    expect(hideCursors(requests)).toEqual([
      first,
      first,
      "/v1/branded-foods?category=cheese&limit=20&cursor=",
      "/v1/branded-foods?category=cheese&limit=20&cursor=…",
      "/v1/branded-foods?category=cheese&limit=20&cursor=…",
      "/v1/branded-foods?limit=500"
    ])
    const [body = "", ...lines] = stdout.split("\n")
    expect(body).toContain('"points":[{"date":"2026-08-29","value":1.6140}')
    expect(JSON.parse(body)).toHaveProperty("data.0.points.length", 5)
    expect(lines).toEqual([
      expect.stringMatching(/^charged 10, left \d+, request req_\w+$/),
      "page 1: 20 foods",
      "page 2: 20 foods",
      "page 3: 5 foods",
      '{"error":{"type":"invalid_request","message":"at most 200 per page"}}',
      "charged 0",
      ""
    ])
  })
})

describe("an example with an unknown key", () => {
  it("exits with 22 and prints the API's own message, with curl", async () => {
    const overrides = { LARDER_URL: api.server().api, LARDER_API_KEY: `svc_data_${"x".repeat(64)}` }
    const { code, stderr, stdout } = await runExample("curl.sh", overrides)
    expect([code, stdout]).toEqual([22, ""])
    expect(stderr).toContain('{"error":{"type":"unauthorized","message":"Unknown or revoked API key"}}\n')
  })
})

describe("an example whose API has no rows", () => {
  let emptyApi: Awaited<ReturnType<typeof startEmptyApi>>
  beforeAll(async () => {
    emptyApi = await startEmptyApi()
  })
  afterAll(() => emptyApi?.close())

  it.each([
    ["larder.ts", "0 cheeses; none of them states that it has salt"],
    ["larder.py", "0 cheeses, none of which states its sodium"]
  ])("exits with 0 and prints that there are no cheeses: %s", async (name, line) => {
    const { code, stderr, stdout } = await runExample(name, { LARDER_URL: emptyApi.url })
    expect([code, stderr]).toEqual([0, ""])
    expect(stdout.split("\n")).toContain(line)
  })
})
