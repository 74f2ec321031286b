/** The notices of real runs and commands, at a real webhook. About ten runs. */
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { copyForTest, makeTestFolder, parseRunRecord, removeFolder, temporaryFolder } from "../end-to-end/ingesting.ts"
import {
  aBlockRow,
  aClose,
  type Bodies,
  blocks,
  bodyOf,
  everyFeed,
  feedNamed,
  writeRecordings
} from "../support/pipelines/commodity-payloads.ts"
import { startSilentProxy } from "../support/pipelines/silent-proxy.ts"
import { type Environment, run, start, waitForExit } from "../support/programs.ts"
import { editLiveData } from "../support/warehouse/edit-published.ts"
import { startReceiver, webhookSecret, webhookToken } from "../support/webhook-receiver.ts"

const closes = feedNamed("gov-mars/1603")
const twoFeeds: Bodies = { [closes.feed]: bodyOf(closes, [aClose()]), [blocks.feed]: bodyOf(blocks, [aBlockRow()]) }

const ingest = (home: string, args: ReadonlyArray<string>, settings: Environment = {}) =>
  run("larder-ingest", args, { LARDER_HOME: home, ...settings })
const replay = (home: string, bodies: Bodies, settings: Environment = {}, ...flags: ReadonlyArray<string>) => {
  const folder = makeTestFolder()
  writeRecordings(folder, bodies)
  return ingest(home, ["commodities", "--replay", folder, "--json", ...flags], settings)
}

/** Two reports of many, whose newest values are old by now. */
let home = ""
beforeAll(async () => {
  home = temporaryFolder()
  const folder = temporaryFolder()
  writeRecordings(folder, twoFeeds)
  await ingest(home, ["commodities", "--replay", folder])
  removeFolder(folder)
})
afterAll(() => removeFolder(home))

describe("a run with LARDER_NOTIFY_URL", () => {
  it("reports that it left feeds out, with its own id and the text that it prints", async () => {
    const receiver = await startReceiver()
    const body = bodyOf(closes, [aClose()]).slice(0, -30)
    const ended = await replay(copyForTest(home), { ...everyFeed(), [closes.feed]: body }, receiver.settings)
    const [notice, ...others] = receiver.received
    expect([ended.code, others]).toEqual([4, []])
    expect(notice).toMatchObject({ id: parseRunRecord(ended).run_id, type: "run.left_out" })
    expect(notice?.data).toMatchObject({
      pipeline: "commodities",
      left_out: [{ feed: closes.feed }],
      left_out_total: 1
    })
    expect(notice?.text).toMatch(/^Larder: the run of commodities left something out\n1 feed of commodities left out; /)
    expect(ended.stderr + ended.stdout).not.toContain(webhookToken)
  })

  it("reports that a check stopped its publication", async () => {
    const copy = copyForTest(home)
    const orphan = `insert into commodity.observation_version
      select * replace ('butter_close' as metric_name) from commodity.observation_version limit 1`
    await editLiveData(copy, "commodities", orphan)
    const receiver = await startReceiver()
    const ended = await replay(copy, everyFeed(), receiver.settings)
    expect([ended.code, receiver.received.length]).toEqual([3, 1])
    expect(receiver.received[0]).toMatchObject({ id: parseRunRecord(ended).run_id, type: "run.checks_failed" })
    expect(receiver.received[0]?.text).toContain("values_have_metrics: 1 bad rows")
  })

  it("reports that it failed, once if the first answers are a 500", async () => {
    const receiver = await startReceiver(500, 200)
    const ended = await replay(makeTestFolder(), { [closes.feed]: "<html>" }, receiver.settings)
    const id = parseRunRecord(ended).run_id
    expect(ended.code).toBe(1)
    expect(receiver.received.map((notice) => [notice.id, notice.type])).toEqual([
      [id, "run.failed"],
      [id, "run.failed"]
    ])
  })

  it("sends nothing if everything was read, in a dry run, or if its flags cannot be used", async () => {
    const receiver = await startReceiver()
    const ends = [
      await replay(copyForTest(home), everyFeed(), receiver.settings),
      await replay(copyForTest(home), twoFeeds, receiver.settings, "--dry-run"),
      await ingest(home, ["commodities", "--from", "2026-09-01"], receiver.settings),
      await ingest(home, ["commodities", "--form", "2026-09-01"], { ...receiver.settings, LARDER_SOURCE: "live" })
    ]
    expect([ends.map(({ code }) => code), receiver.received]).toEqual([[0, 4, 2, 2], []])
  })

  it.each([
    ["a misspelled setting", { LARDER_SOURCE: "live" }, /there is no LARDER_SOURCE\. Did you mean LARDER_SOURCES\?$/],
    ["a setting of a wrong value", { LARDER_SOURCES: "lives" }, /LARDER_SOURCES/],
    [
      "a file of a secret that is missing",
      { MARS_API_KEY_FILE: "/gone/key" },
      /MARS_API_KEY_FILE names, does not exist$/
    ],
    ["a catalog that cannot be used", { LARDER_CATALOG: "/gone/catalog" }, /LARDER_CATALOG/]
  ] as const)("reports %s", async (_, settings, problem) => {
    const receiver = await startReceiver()
    const file = path.join(makeTestFolder(), "secret")
    writeFileSync(file, `${webhookSecret}\n`)
    const webhook = { LARDER_NOTIFY_URL: receiver.url, LARDER_NOTIFY_SECRET_FILE: file }
    const { code, problems } = await ingest(home, ["commodities", "--quiet"], { ...webhook, ...settings })
    const [notice, ...others] = receiver.received
    expect([code, notice?.type, notice?.data.run, others]).toEqual([2, "run.failed", null, []])
    expect(notice?.data.message).toMatch(problem)
    expect(problems).toContain(notice?.data.message)
  })

  it("ends as without it if nobody listens there: one warning, without the address", async () => {
    const receiver = await startReceiver()
    receiver.stop()
    const ended = await replay(copyForTest(home), twoFeeds, receiver.settings)
    expect(ended.code).toBe(4)
    expect(ended.problems.match(/the notice was not delivered: .*ECONNREFUSED/g)).toHaveLength(1)
    expect(ended.stderr + ended.stdout).not.toContain(webhookToken)
  })

  it("ends before anything is fetched if the address cannot be used", async () => {
    const folder = makeTestFolder()
    const ended = await replay(folder, twoFeeds, { LARDER_NOTIFY_URL: `http://hooks.example/${webhookToken}` })
    expect(ended.code).toBe(2)
    expect(ended.problems).toContain("LARDER_NOTIFY_URL must be https://…")
    expect(ended.stderr + ended.stdout).not.toContain(webhookToken)
  })
})

/** Starts a live run that waits for its first response. */
const startWaitingRun = async (at: string, webhook: Environment) => {
  const { connected, settings } = await startSilentProxy()
  const child = start("larder-ingest", ["commodities", "--json"], { LARDER_HOME: at, ...settings, ...webhook })
  const ended = waitForExit(child)
  await Promise.race([connected, ended])
  return (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
}

describe("a run that is stopped", () => {
  it("reports SIGTERM, as of a shutdown or a time limit, and not Ctrl-C, of which the caller knows", async () => {
    const receiver = await startReceiver()
    const interrupt = await startWaitingRun(path.join(makeTestFolder(), "home"), receiver.settings)
    expect((await interrupt("SIGINT")).code).toBe(130)
    expect(receiver.received).toEqual([])
    const terminate = await startWaitingRun(path.join(makeTestFolder(), "home"), receiver.settings)
    const ended = await terminate("SIGTERM")
    expect(ended.code).toBe(130)
    expect(receiver.received).toMatchObject([
      { id: parseRunRecord(ended).run_id, type: "run.failed", data: { run: { outcome: "interrupted" } } }
    ])
    expect(receiver.received[0]?.text).toMatch(/^Larder: the run of commodities failed\nSIGTERM stopped it, /)
  })

  it("is reported once by the next run if it was killed", async () => {
    const receiver = await startReceiver()
    const at = path.join(makeTestFolder(), "home")
    const kill = await startWaitingRun(at, receiver.settings)
    expect((await kill("SIGKILL")).signal).toBe("SIGKILL")
    expect(receiver.received).toEqual([])
    for (let n = 0; n < 2; n++) expect((await replay(at, everyFeed(), receiver.settings)).code).toBe(0)
    const [notice, ...others] = receiver.received
    expect([notice?.type, others]).toEqual(["run.failed", []])
    expect(notice?.text).toMatch(
      /^Larder: the run of commodities failed\nThe program was killed, or its machine stopped, /
    )
    expect(notice?.data.run).toMatchObject({ run_id: notice?.id, outcome: "interrupted" })
  })

  it("is reported once by a rebuild if it was killed and no run came before", async () => {
    const receiver = await startReceiver()
    const at = path.join(makeTestFolder(), "home")
    const kill = await startWaitingRun(at, receiver.settings)
    await kill("SIGKILL")
    await ingest(at, ["rebuild"], receiver.settings)
    expect((await replay(at, everyFeed(), receiver.settings)).code).toBe(0)
    expect(receiver.received).toMatchObject([{ type: "run.failed", data: { run: { outcome: "interrupted" } } }])
  })
})

describe("a rollback", () => {
  it("prints what is live before it waits for a webhook that does not answer", async () => {
    const copy = copyForTest(home)
    await replay(copy, everyFeed())
    const receiver = await startReceiver("hang")
    const child = start("larder-ingest", ["rollback"], { LARDER_HOME: copy, ...receiver.settings })
    const ended = waitForExit(child)
    await receiver.waitFor(1)
    child.kill("SIGKILL")
    expect((await ended).stdout).toContain("larder-000003 is live: ")
  })

  it("is reported with its note and what is live", async () => {
    const copy = copyForTest(home)
    await replay(copy, everyFeed())
    const receiver = await startReceiver()
    const { code } = await ingest(copy, ["rollback", "--note", "odd prices"], receiver.settings)
    expect(code).toBe(0)
    expect(receiver.received).toMatchObject([
      {
        type: "warehouse.rolled_back",
        data: { generation: "larder-000003", data_sets: { commodities: "larder-000001" }, note: "odd prices" },
        text: "Larder: rolled back, larder-000003 is live\ncommodities is that of larder-000001\nnote: odd prices"
      }
    ])
  })
})

describe("larder-ingest status --notify", () => {
  it("sends what is late once, and again with the same id if the first notice was not accepted", async () => {
    const copy = copyForTest(home)
    const receiver = await startReceiver(404, 200)
    const status = () => ingest(copy, ["status", "--notify"], receiver.settings)
    const first = await status()
    expect(first.problems).toContain("the notice was not delivered, and the next call sends it again: The address in")
    const { code } = await ingest(copy, ["status"])
    expect([first.code, (await status()).code, (await status()).code]).toEqual([code, code, code])
    const [before, again, ...others] = receiver.received
    expect([again?.id, again?.data, others]).toEqual([before?.id, before?.data, []])
    expect(before?.text).toMatch(/^Larder: \d+ late\nlate: commodities metric \w+\. The value of \d{4}/)
    const told: ReadonlyArray<{ readonly state: string }> = JSON.parse(
      readFileSync(path.join(copy, "notified.json"), "utf8")
    )
    expect(new Set(told.map(({ state }) => state))).toEqual(new Set(["late", "not_loaded", "not_read"]))
  })

  it("sends nothing but asks for the setting without LARDER_NOTIFY_URL", async () => {
    const { code, problems } = await ingest(home, ["status", "--notify"])
    expect([code, problems]).toEqual([2, "larder-ingest: --notify needs LARDER_NOTIFY_URL\n"])
  })
})

describe("larder-serve notify check", () => {
  const check = (settings: Environment) => run("larder-serve", ["notify", "check"], settings)

  it("sends a test notice, and reports that it was accepted", async () => {
    const receiver = await startReceiver()
    const { code, stdout } = await check(receiver.settings)
    expect([code, receiver.received.map(({ type }) => type)]).toEqual([0, ["notify.check"]])
    expect(stdout).toMatch(
      new RegExp(
        `^ok {7}webhook {2}accepted the notice ${receiver.received[0]?.id}, signed with LARDER_NOTIFY_SECRET\n`
      )
    )
  })

  it("reports why nothing arrives, without the address", async () => {
    const receiver = await startReceiver(302)
    const { code, stderr, stdout } = await check(receiver.settings)
    expect(code).toBe(1)
    expect(stdout).toContain(
      "failed   webhook  The address in LARDER_NOTIFY_URL answered with the redirect 302, which is not followed: set the final address.\n"
    )
    expect(stderr + stdout).not.toContain(webhookToken)
    expect((await check({})).stdout).toMatch(/^skipped {2}webhook {2}LARDER_NOTIFY_URL is not set/)
    expect((await check({ LARDER_NOTIFY_SECRET: webhookSecret })).problems).toMatch(/LARDER_NOTIFY_URL is not/)
  })
})
