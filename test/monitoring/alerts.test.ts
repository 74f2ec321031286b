/** The rules of `ops/alerts.yml` over the metrics of a real server, evaluated with Prometheus' own parser and engine. */
import { spawn } from "node:child_process"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"
import { findSharedServer } from "../support/api/server.ts"
import { cleanEnvironment, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { isInstalled, runCommand } from "../support/tools.ts"

const source = fileURLToPath(new URL("evaluate", import.meta.url))

/** What the server responded once a minute. Empty if it did not respond. */
interface Scrapes {
  readonly text: string
  readonly minutes: number
}

interface Evaluated {
  readonly lint: ReadonlyArray<string>
  readonly fired: Readonly<
    Record<
      string,
      ReadonlyArray<{
        readonly alert: string
        readonly labels: Readonly<Record<string, string>>
        readonly annotations: Readonly<Record<string, string>>
      }>
    >
  >
}

/** Go builds only what has changed: 46 seconds of CPU at first. */
const build = async () => {
  if (!isInstalled("go")) throw new Error("The alert rules are evaluated by a program in Go, which is not installed.")
  const program = path.join(repository, "node_modules/.cache/monitoring/evaluate")
  await runCommand(["go", "build", "-o", program, "."], source, { GOFLAGS: "-mod=readonly" })
  return program
}

const evaluate = async (cases: Readonly<Record<string, ReadonlyArray<Scrapes>>>): Promise<Evaluated> => {
  const child = spawn(await build(), [], { env: cleanEnvironment({}), stdio: "pipe" })
  child.stdin.end(JSON.stringify({ rules: path.join(repository, "ops/alerts.yml"), cases }))
  const { code, stderr, stdout } = await waitForExit(child)
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** Replaces the value of a sample, which must exist. */
const withValue = (text: string, sample: string, change: (value: number) => number) => {
  const line = text.split("\n").find((line) => line.startsWith(`${sample} `))
  if (line === undefined) throw new Error(`/metrics has no ${sample}`)
  return text.replace(line, `${sample} ${change(Number(line.slice(sample.length)))}`)
}
const withAll = (text: string, name: string, change: (value: number) => number) =>
  [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})?(?= )`, "gm"))].reduce(
    (changed, [sample]) => withValue(changed, sample, change),
    text
  )

/** Calls in ten minutes: as many each minute. */
const calls = (text: string, ofMinute: Readonly<Record<number, number>>): ReadonlyArray<Scrapes> =>
  Array.from({ length: 11 }, (_, minute) => {
    const samples = Object.entries(ofMinute).map(
      ([status, count]) => `larder_requests_total{endpoint="getProduct",status="${status}"} ${count * minute}`
    )
    const type = "# TYPE larder_requests_total counter"
    const others = text.replaceAll(/^larder_requests_total\{.*\n/gm, "")
    return { text: others.replace(type, [type, ...samples].join("\n")), minutes: 1 }
  })

const day = 86_400
const threeDays = 3 * 1440 + 1

describe("the alerts", () => {
  let result: Evaluated = { lint: [], fired: {} }
  beforeAll(async () => {
    const text = await (await fetch(`${findSharedServer().server.console}/metrics`)).text()
    const late = 'larder_freshness_subjects{pipeline="commodities",state="late"}'
    const leftOut = (pipeline: string) => withValue(text, `larder_left_out_feeds{pipeline="${pipeline}"}`, () => 2)
    const started = "larder_run_last_start_timestamp_seconds"
    const read = "larder_freshness_read_timestamp_seconds"
    const stale = withAll(text, read, (at) => at - 7500)
    const neverRead = withAll(
      text.replace(new RegExp(`^${read} .*\\n`, "m"), ""),
      "process_start_time_seconds",
      (at) => at - 7500
    )
    result = await evaluate({
      healthy: [{ text, minutes: 30 }],
      "failed run": [{ text: withValue(text, 'larder_run_last_failed{pipeline="storefronts"}', () => 1), minutes: 1 }],
      "no run": [{ text: withAll(text, started, (at) => at - 2.1 * day), minutes: 1 }],
      "one pipeline not run": [
        { text: withValue(text, `${started}{pipeline="storefronts"}`, (at) => at - 3 * day), minutes: 1 }
      ],
      "a pipeline that never ran": [
        { text: text.replaceAll(/^larder_run_\w+\{.*pipeline="storefronts".*\n/gm, ""), minutes: 1 }
      ],
      "left out": [{ text: leftOut("commodities"), minutes: threeDays }],
      "left out for almost three days": [
        { text, minutes: threeDays },
        { text: leftOut("commodities"), minutes: threeDays - 5 }
      ],
      "stores left out": [{ text: leftOut("storefronts"), minutes: threeDays }],
      late: [{ text: withValue(text, late, () => 3), minutes: 11 }],
      "unknown what is late": [{ text: stale, minutes: 11 }],
      "unknown since the start": [{ text: neverRead, minutes: 11 }],
      "not ready": [{ text: withValue(text, "larder_ready", () => 0), minutes: 3 }],
      "not ready for a minute": [
        { text, minutes: 5 },
        { text: withValue(text, "larder_ready", () => 0), minutes: 1 }
      ],
      down: [
        { text, minutes: 10 },
        { text: "", minutes: 3 }
      ],
      errors: calls(text, { 200: 97, 500: 2, 503: 1 }),
      "few errors": calls(text, { 200: 991, 500: 9 }),
      "an error in a quiet hour": calls(text, { 500: 0.4 }),
      "full disk": [
        {
          text: withAll(text, "larder_disk_free_bytes", () => 5e9).replace(
            /^larder_disk_size_bytes .*/m,
            "larder_disk_size_bytes 100e9"
          ),
          minutes: 11
        }
      ]
    })
  })

  it.each([
    ["healthy", []],
    ["failed run", ["LarderRunFailed of storefronts"]],
    ["no run", ["LarderNoRun of branded-foods", "LarderNoRun of commodities", "LarderNoRun of storefronts"]],
    ["one pipeline not run", ["LarderNoRun of storefronts"]],
    ["a pipeline that never ran", []],
    ["left out", ["LarderLeftOut of commodities"]],
    ["left out for almost three days", []],
    ["stores left out", []],
    ["late", ["LarderLate of commodities"]],
    ["unknown what is late", ["LarderLate of all"]],
    ["unknown since the start", ["LarderLate of all"]],
    ["not ready", ["LarderNotReady of 127.0.0.1:8081"]],
    ["not ready for a minute", []],
    ["down", ["LarderNotReady of 127.0.0.1:8081"]],
    ["errors", ["LarderErrors of 127.0.0.1:8081"]],
    ["few errors", []],
    ["an error in a quiet hour", []],
    ["full disk", ["LarderDisk of 127.0.0.1:8081"]]
  ] as const)("fire exactly if something is wrong: %s", (name, expected) => {
    const fired = result.fired[name]?.map(
      ({ alert, labels }) => `${alert} of ${labels.pipeline ?? labels.instance ?? "all"}`
    )
    expect(fired).toEqual(expected)
  })

  it("say what is wrong in words, with their numbers", () => {
    const summaryOf = (name: string) => result.fired[name]?.[0]?.annotations.summary
    expect(summaryOf("failed run")).toBe("The last run of storefronts failed.")
    expect(summaryOf("no run")).toMatch(/^No run of [a-z-]+ has started for 2d 2h \d+m \d+s\.$/)
    expect(summaryOf("late")).toBe("3 metrics, releases or stores of commodities are late.")
    expect(summaryOf("unknown what is late")).toMatch(/^What is late has been unknown for 2h \d+m \d+s\.$/)
    expect(summaryOf("errors")).toBe("127.0.0.1:8081 responds to 3% of the calls with a 5xx.")
    expect(summaryOf("full disk")).toBe("127.0.0.1:8081 has 5% of the disk of LARDER_HOME left.")
  })
})

describe("/metrics", () => {
  it("follows the conventions that `promtool check metrics` knows", async () => {
    const text = await (await fetch(`${findSharedServer().server.console}/metrics`)).text()
    expect((await evaluate({ now: [{ text, minutes: 1 }] })).lint).toEqual([])
  })
})
