/** Notices of servers about freshness: of several servers one sends them, and what a killed server may have sent is repeated. */

import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { NotifiedState } from "@larder/serve/notices/notified-tables.ts"
import { notifyFreshnessOnce } from "@larder/serve/notices/notify-freshness.ts"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { layoutOf, readFreshness, webhookFromSettings } from "@larder/warehouse"
import { ConfigProvider, Context, Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { copyForTest, removeFolder, temporaryFolder } from "../end-to-end/ingesting.ts"
import { withClockAhead } from "../support/clock-ahead.ts"
import {
  aBlockRow,
  aClose,
  blocks,
  bodyOf,
  feedNamed,
  writeRecordings
} from "../support/pipelines/commodity-payloads.ts"
import { run, startServer } from "../support/programs.ts"
import { consoleDatabaseKinds, consoleDatabases } from "../support/serve/console-databases.ts"
import { startReceiver, webhookToken } from "../support/webhook-receiver.ts"

const closes = feedNamed("gov-mars/1603")

/** Two reports of many, whose newest values are old by now. */
let home = ""
beforeAll(async () => {
  home = temporaryFolder()
  const folder = temporaryFolder()
  writeRecordings(folder, { [closes.feed]: bodyOf(closes, [aClose()]), [blocks.feed]: bodyOf(blocks, [aBlockRow()]) })
  const ended = await run("larder-ingest", ["commodities", "--replay", folder], { LARDER_HOME: home })
  removeFolder(folder)
  if (ended.code !== 4) throw new Error(ended.stderr)
})
afterAll(() => removeFolder(home))

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Two servers over the same tables, each with its own connections if the database allows it. */
const withTwoServers = (
  kind: (typeof consoleDatabaseKinds)[number],
  receiver: Receiver,
  use: (
    check: (server: "first" | "second", fault?: string) => Effect.Effect<void, unknown>
  ) => Effect.Effect<void, unknown>
) =>
  Effect.gen(function* () {
    const database = yield* consoleDatabases[kind]
    const first = yield* Layer.build(database.layer)
    const second = kind === "SQLite" ? first : yield* Layer.build(database.layer)
    const freshness = (yield* readFreshness(yield* layoutOf(home))) ?? []
    const webhook = yield* webhookFromSettings
    if (webhook === undefined) throw new Error("there is no webhook")
    const check = (server: "first" | "second", fault?: string) =>
      notifyFreshnessOnce({ freshness, read_at: "2026-12-01T00:00:00.000Z", fault }, webhook, server).pipe(
        Effect.provideContext(server === "first" ? first : second)
      )
    const { all, run } = Context.get(first, ConsoleDatabase)
    yield* run("insert into console.notified_state values ('account acct_a balance pers_a', 'low', '')")
    yield* use(check)
    const mailed = yield* all(NotifiedState, "select * from console.notified_state where subject like 'account %'")
    expect(mailed.length).toBe(1) // what people were mailed is not forgotten
  }).pipe(
    Effect.scoped,
    Effect.provide([NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(receiver.settings))]),
    Effect.runPromise
  )

describe.each(consoleDatabaseKinds)("two servers over %s", (kind) => {
  it("send a change once, in one notice, and one of them sends until its claim expires", async () => {
    const receiver = await startReceiver()
    await withTwoServers(kind, receiver, (check) =>
      Effect.gen(function* () {
        const both = Effect.all([check("first"), check("second")], { concurrency: "unbounded" })
        yield* Effect.all([check("first", "the disk does not respond"), check("second", "the same")])
        expect(receiver.received).toEqual([])
        yield* both
        yield* both
        yield* check("second").pipe(withClockAhead("4 minutes"))
      })
    )
    expect(receiver.received.map(({ type }) => type)).toEqual(["freshness.changed"])
    expect(receiver.received[0]?.text).toMatch(/^Larder: \d+ late\nlate: commodities metric /)
  })

  it("repeat with the same id what was not accepted, first by the server that has not tried it", async () => {
    const receiver = await startReceiver(404, 200)
    await withTwoServers(kind, receiver, (check) =>
      Effect.gen(function* () {
        yield* Effect.flip(check("first"))
        yield* check("second")
        expect(receiver.received.length).toBe(2)
        yield* check("first")
        yield* check("second")
      })
    )
    const [first, second, ...others] = receiver.received
    expect([second?.id, second?.data, others]).toEqual([first?.id, first?.data, []])
  })
})

describe.each(consoleDatabaseKinds)("a server over %s whose clock is a day ahead", (kind) => {
  it("does not keep the others from sending once it is gone", async () => {
    const receiver = await startReceiver()
    await withTwoServers(kind, receiver, (check) =>
      Effect.gen(function* () {
        yield* Effect.flip(check("first").pipe(withClockAhead("1 day"))) // the receiver refuses its signature
        yield* check("second")
      })
    )
    expect(receiver.received.length).toBe(1)
  })
})

describe("a server that is killed after its POST arrived, and before it is recorded", () => {
  it("is followed by one that repeats the notice with the same id, and counts it in /metrics", async () => {
    const receiver = await startReceiver("hang", 200)
    const copy = copyForTest(home)
    const killed = await startServer(copy, receiver.settings)
    await receiver.waitFor(1)
    await killed.stop("SIGKILL")
    const ledger = new DatabaseSync(path.join(copy, "ledger/ledger.sqlite"))
    ledger.exec("update notifier set expires_at = '2026-01-01T00:00:00.000Z'") // as minutes later
    ledger.close()
    const next = await startServer(copy, receiver.settings)
    await receiver.waitFor(2)
    await expect
      .poll(async () => (await fetch(`${next.console}/metrics`)).text())
      .toContain('larder_deliveries_total{kind="notice",outcome="delivered"} 1\n')
    expect(await next.stop()).toBe(0)
    const [first, second] = receiver.received
    expect([second?.id, second?.data]).toEqual([first?.id, first?.data])
    expect(killed.logs() + next.logs()).not.toContain(webhookToken)
  })
})
