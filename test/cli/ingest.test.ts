/** Calls of `larder-ingest`: by turbo, for one pipeline and for all, and calls that it refuses before it fetches anything. */
import { type SpawnOptions, spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { inject } from "vitest"
import { copyForTest, makeTestFolder, query } from "../end-to-end/ingesting.ts"
import { type Bodies, everyFeed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { startSilentProxy } from "../support/pipelines/silent-proxy.ts"
import { cleanEnvironment, type Environment, run, start, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const bin = path.join(repository, "node_modules/.bin")
const page = path.join(repository, "docs/ingesting.md")
const spawnOptions = (environment: Environment): SpawnOptions => ({
  cwd: repository,
  detached: true, // a separate process group, as on a terminal
  env: { ...cleanEnvironment({ TURBO_TELEMETRY_DISABLED: "1", ...environment }), PATH: `${bin}:${process.env.PATH}` },
  stdio: ["ignore", "pipe", "pipe"]
})
const startTurbo = (args: ReadonlyArray<string>, environment: Environment) =>
  spawn(path.join(bin, "turbo"), ["run", "ingest", ...args], spawnOptions(environment))
const runTurbo = (args: ReadonlyArray<string>, environment: Environment) => waitForExit(startTurbo(args, environment))

/** Lists the files of a home that a fetch or a publication creates. */
const listTraces = (home: string) =>
  ["raw/fetches", "warehouse/generations", "warehouse/objects"].flatMap((folder) => {
    const at = path.join(home, folder)
    return existsSync(at) ? readdirSync(at).filter((name) => !name.startsWith(".")) : []
  })

/** Parses the lines that `--json` prints. */
const parseObjects = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line))

describe("npx turbo run ingest", () => {
  it("runs every pipeline with any home and the arguments that apply to it, and has pure JSON as documented", async () => {
    const home = path.join(makeTestFolder(), "pipeline=none/it's a [home]*")
    const documented = /`(npx turbo run ingest .*-- --json)( \| grep .*?)`/.exec(readFileSync(page, "utf8"))
    const [, command = "", filter = ""] = documented ?? []
    const shell = `set -o pipefail; ${command} --dry-run --from 2026-09-01 --to 2026-09-30${filter}`
    const child = spawn("bash", ["-c", shell], spawnOptions({ LARDER_HOME: home }))
    const { code, stderr, stdout } = await waitForExit(child)
    assert.strictEqual(code, 0, stdout + stderr)
    assert.deepStrictEqual(
      parseObjects(stdout).map(({ outcome, pipeline, window_from }) => ({ outcome, pipeline, window_from })),
      [
        { outcome: "would_publish", pipeline: "commodities", window_from: "2026-09-01" },
        { outcome: "would_publish", pipeline: "branded-foods", window_from: null },
        { outcome: "would_publish", pipeline: "storefronts", window_from: null }
      ]
    )
    assert.isFalse(existsSync(home))
  })

  it("passes on every variable, and exits with the code of the program", async () => {
    const home = path.join(makeTestFolder(), "home")
    const settings = { LARDER_HOME: home, LARDER_SOURCES: "live", HTTPS_PROXY: "ftp://proxy" }
    const { code, stderr, stdout } = await runTurbo([], settings)
    assert.strictEqual(code, 2)
    assert.include(stdout + stderr, "HTTPS_PROXY is not the address of a proxy")
  })

  it("passes on an interrupt", async () => {
    const home = path.join(makeTestFolder(), "home")
    const { connected, settings } = await startSilentProxy()
    const child = startTurbo([], { LARDER_HOME: home, ...settings })
    const end = waitForExit(child)
    await Promise.race([connected, end])
    process.kill(-(child.pid ?? 0), "SIGINT")
    const { stderr, stdout } = await end
    assert.match(stdout + stderr, /"event":"stopped","pipeline":"commodities"/)
    const [runs, dataSets] = await query(home, "from ingest.run", "from ingest.data_set")
    assert.lengthOf(runs ?? [], 1)
    assert.deepInclude(runs?.[0], { pipeline: "commodities", outcome: "interrupted", rows_read: null })
    assert.deepStrictEqual(dataSets, [])
  })
})

describe("a run of larder-ingest, before it fetches anything", () => {
  const writeList = (text: string) => {
    const file = path.join(makeTestFolder(), "shops.json")
    writeFileSync(file, text)
    return file
  }
  const bakery = { domain: "bakery.example", name: "Bakery", kind: "shopify", location: "https://bakery.example" }

  it.each<readonly [string, ReadonlyArray<string>, () => Environment, RegExp]>([
    ["an unknown source", ["all"], () => ({ LARDER_SOURCES: "foo" }), /"sample" \| "live" \(in LARDER_SOURCES\)\n$/],
    [
      "an invalid number of kept generations",
      ["all"],
      () => ({ LARDER_KEPT_GENERATIONS: "0" }),
      /expected a whole number of at least 1.* \(in LARDER_KEPT_GENERATIONS\)\n$/
    ],
    [
      "an invalid interval",
      ["storefronts"],
      () => ({
        LARDER_SOURCES: "live",
        LARDER_STORE_MIN_INTERVAL: "often",
        LARDER_STORES: writeList(JSON.stringify([bakery]))
      }),
      /LARDER_STORE_MIN_INTERVAL or .* is not a duration\. Write it as `20 hours`/
    ],
    [
      "a missing folder of store files",
      ["storefronts"],
      () => ({
        LARDER_SOURCES: "live",
        LARDER_STORE_FILES: "/no/such/folder",
        LARDER_STORES: writeList(JSON.stringify([bakery]))
      }),
      /LARDER_STORE_FILES is \/no\/such\/folder, which is not a folder/
    ],
    [
      "live stores without a list",
      ["storefronts"],
      () => ({ LARDER_SOURCES: "live" }),
      /No store list is given: .*--stores or in LARDER_STORES/
    ],
    [
      "a missing list",
      ["storefronts"],
      () => ({ LARDER_SOURCES: "live", LARDER_STORES: "/no/such/shops.json" }),
      /The store list \/no\/such\/shops\.json cannot be used\. There is no such file\./
    ],
    [
      "a list that is not JSON",
      ["storefronts"],
      () => ({ LARDER_SOURCES: "live", LARDER_STORES: writeList('[\n  { "domain": }\n]') }),
      /shops\.json cannot be used\. It is not valid JSON: .*line 2 column 15/
    ],
    [
      "a list with an invalid store",
      ["storefronts"],
      () => ({
        LARDER_SOURCES: "live",
        LARDER_STORES: writeList(JSON.stringify([bakery, { ...bakery, kind: "etsy" }]))
      }),
      /shops\.json cannot be used\. Store 2, kind: /
    ]
  ])("refuses %s with exit code 2 and one sentence", async (_, args, settings, message) => {
    const home = path.join(makeTestFolder(), "home")
    const { code, problems, stdout } = await run("larder-ingest", args, { LARDER_HOME: home, ...settings() })
    assert.deepStrictEqual([code, stdout], [2, ""], problems)
    assert.match(problems, message)
    assert.isFalse(existsSync(home))
  })

  it("refuses a live source for bundled samples, and skips stores without a list in a run of all pipelines", async () => {
    const home = copyForTest(inject("sampleHome"))
    const before = listTraces(home)
    const { code, problems, stdout } = await run("larder-ingest", ["all", "--json"], {
      LARDER_HOME: home,
      LARDER_SOURCES: "live"
    })
    assert.strictEqual(code, 2)
    assert.deepStrictEqual(
      parseObjects(stdout).map(({ outcome, pipeline }) => `${pipeline} ${outcome}`),
      ["commodities failed", "branded-foods failed", "storefronts not_run"]
    )
    assert.match(
      problems,
      /contains bundled samples, most of them generated; live prices are not mixed with them\. Set LARDER_HOME/
    )
    assert.match(problems, /live labels are not mixed/)
    assert.include(problems, "storefronts is left out. No store list is given")
    assert.include(problems, "2 of 3 pipelines had problems: commodities was not run, branded-foods was not run.")
    assert.deepStrictEqual(listTraces(home), before)
  })

  it.each<readonly [ReadonlyArray<string>, RegExp]>([
    [
      ["storefronts", "--from", "2026-01-01"],
      /--from does not apply to storefronts: use it with larder-ingest commodities$/m
    ],
    [
      ["branded-foods", "--to", "2026-01-01"],
      /--to does not apply to branded-foods: use it with larder-ingest commodities$/m
    ],
    [
      ["commodities", "--file", "no-such.zip"],
      /--file does not apply to commodities: use it with larder-ingest branded-foods$/m
    ],
    [["rollback", "--to", "x"], /--to cannot be "x": expected a generation, such as 41 or larder-000041$/m]
  ])("refuses a flag that does not apply to the command, or with an invalid value: %j", async (args, message) => {
    const home = path.join(makeTestFolder(), "home")
    const { code, problems, stdout } = await run("larder-ingest", args, { LARDER_HOME: home })
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.match(problems, message)
  })

  it("still runs the other pipelines if it refuses one", async () => {
    const home = makeTestFolder()
    const stores = path.join(home, "shops.json")
    writeFileSync(stores, JSON.stringify([{ ...bakery, kind: "shopify-csv", location: "bakery.csv" }]))
    writeFileSync(path.join(home, "bakery.csv"), "Handle,Title,Variant Price\nrye,Rye bread,2.50\n")
    const live = await run("larder-ingest", ["storefronts", "--stores", stores], { LARDER_HOME: home })
    assert.strictEqual(live.code, 0, live.stderr)
    const { code, problems, stdout } = await run("larder-ingest", ["all"], { LARDER_HOME: home })
    assert.strictEqual(code, 2)
    assert.match(problems, /This warehouse contains live stores; .* Set LARDER_SOURCES=live/)
    assert.match(stdout, /^commodities: published larder-000002\n[\s\S]*branded-foods: published larder-000003\n/)
    assert.notInclude(stdout, "storefronts: ")
  })
})

describe("a run that is interrupted", () => {
  it("prints its object with --json", async () => {
    const home = path.join(makeTestFolder(), "home")
    const { connected, settings } = await startSilentProxy()
    const child = start("larder-ingest", ["commodities", "--json"], { LARDER_HOME: home, ...settings })
    const end = waitForExit(child)
    await Promise.race([connected, end])
    child.kill("SIGINT")
    const { code, stderr, stdout } = await end
    assert.strictEqual(code, 130, stderr)
    const [interrupted] = parseObjects(stdout)
    assert.deepInclude(interrupted, { pipeline: "commodities", outcome: "interrupted", generation: null })
    assert.isString(interrupted?.run_id)
  })
})

describe("a run of several pipelines", () => {
  /** Writes recordings of commodities and stores; the stores are only a list. */
  const writeRecording = (bodies: Bodies, stores: unknown) => {
    const folder = makeTestFolder()
    writeRecordings(folder, bodies)
    writeFileSync(path.join(folder, "stores.json"), typeof stores === "string" ? stores : JSON.stringify(stores))
    writeFileSync(path.join(folder, "bakery.csv"), "Handle,Title,Variant Price\nrye,Rye bread,2.50\n")
    return folder
  }
  const bakery = { domain: "bakery.example", name: "Bakery", kind: "shopify-csv", location: "bakery.csv" }
  const damaged = { ...everyFeed(), "gov-mars/1603": "<!doctype html>" }

  it("continues after a failed one, exits with the worst code, and prints an object for each with --json", async () => {
    const home = makeTestFolder()
    const args = ["all", "--json", "--replay", writeRecording(damaged, "no list")]
    const { code, problems, stdout } = await run("larder-ingest", args, { LARDER_HOME: home })
    assert.strictEqual(code, 1, "a failure is worse than an omission")
    assert.match(problems, /1 feed of commodities left out; the others were published\./)
    assert.include(problems, "2 of 2 pipelines had problems: commodities left something out, storefronts failed.")
    const [leftOut, partial, failed] = parseObjects(stdout)
    assert.deepInclude(leftOut, { pipeline: "branded-foods", outcome: "not_run", dry_run: false })
    assert.strictEqual(leftOut?.problem, "there is no recording of fdc.nal.usda.gov")
    assert.deepStrictEqual(Object.keys(failed ?? {}).sort(), Object.keys(partial ?? {}).sort())
    assert.deepInclude(partial, { outcome: "partial", generation: "larder-000001", problem: null })
    assert.deepInclude(failed, {
      pipeline: "storefronts",
      outcome: "failed",
      generation: null,
      rows_read: null,
      rows_loaded: null,
      rows_unchanged: null,
      rows_rejected: null
    })
    assert.match(String(failed?.problem), /The store list stores\.json cannot be used/)
    const [runs] = await query(home, "select run_id, outcome, generation, message from ingest.run order by run_id")
    assert.deepStrictEqual(
      runs?.map(({ generation, outcome, run_id }) => ({ run_id, outcome, generation })),
      [partial, failed].map((run) => ({ run_id: run?.run_id, outcome: run?.outcome, generation: run?.generation })),
      "immediately in SQL"
    )
    assert.match(String(runs?.[1]?.message), /The store list stores\.json cannot be used/)
  })

  it("exits with 4 if something was left out and nothing worse happened", async () => {
    const args = ["all", "--replay", writeRecording(damaged, [bakery])]
    const { code, stderr, stdout } = await run("larder-ingest", args, { LARDER_HOME: makeTestFolder() })
    assert.strictEqual(code, 4, stderr)
    assert.match(stdout, /storefronts: published larder-000002/)
    for (const name of ["commodities", "storefronts"]) assert.include(stderr, `"event":"done","pipeline":"${name}"`)
    assert.include(stderr, "1 of 2 pipelines had problems: commodities left something out.")
  })

  it("prints only errors with --quiet, and nothing if all is well", async () => {
    const home = makeTestFolder()
    const runQuietly = (bodies: Bodies) =>
      run("larder-ingest", ["all", "--quiet", "--replay", writeRecording(bodies, [bakery])], { LARDER_HOME: home })
    const faulty = await runQuietly(damaged)
    assert.deepStrictEqual([faulty.code, faulty.stdout], [4, ""])
    assert.match(
      faulty.problems,
      /^larder-ingest: 1 feed of commodities left out.*\n.*\nlarder-ingest: 1 of 2 pipelines .*\n$/
    )
    const { code, stderr, stdout } = await runQuietly(everyFeed())
    assert.deepStrictEqual([code, stdout, stderr], [0, "", ""])
  })
})

describe("an invalid line of the catalog", () => {
  /** Copies the program with an edited catalog. */
  const copyProgram = (edit: (metrics: string) => string) => {
    const folder = makeTestFolder()
    cpSync(path.join(repository, "pipelines"), path.join(folder, "pipelines"), {
      recursive: true,
      filter: (file) => !file.endsWith(".test.ts") && path.basename(file) !== "node_modules"
    })
    symlinkSync(path.join(repository, "node_modules"), path.join(folder, "node_modules"))
    const metrics = path.join(folder, "pipelines/commodities/catalog/metrics.tsv")
    writeFileSync(metrics, edit(readFileSync(metrics, "utf8")))
    const home = path.join(folder, "home")
    mkdirSync(home)
    const call = (...args: ReadonlyArray<string>) =>
      waitForExit(
        spawn(process.execPath, [path.join(folder, "pipelines/bin/larder-ingest.mjs"), ...args], {
          env: cleanEnvironment({ LARDER_HOME: home }),
          stdio: ["ignore", "pipe", "pipe"]
        })
      )
    return { call, home }
  }

  it("fails only its pipeline, and never --help", async () => {
    const { call, home } = copyProgram((metrics) => metrics.replace("\tusd_per_lb\t", "\tusd\t"))
    const [help, all] = [await call("--help"), await call("all")]
    assert.strictEqual(help.code, 0, help.stderr)
    assert.strictEqual(all.code, 1)
    assert.match(
      all.problems,
      /larder-ingest: pipelines\/commodities\/catalog\/metrics\.tsv, line 2, column unit: Expected .*usd_per_lb.*\. Correct the line, and run again\.\n/
    )
    // the failed run is the first generation
    assert.match(all.stdout, /^branded-foods: published larder-000002\n[\s\S]*storefronts: published larder-000003\n/)
    const [[failed] = []] = await query(home, "select outcome, message from ingest.run where pipeline = 'commodities'")
    assert.strictEqual(failed?.outcome, "failed")
    assert.match(String(failed?.message), /metrics\.tsv, line 2, column unit/)
  })
})
