/**
 * Faults of commodities in live runs in one home: one of each kind, all of connections and of the machine.
 * `pipelines/commodities/payload-faults.test.ts` reads payloads with each fault of the table in the docs.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { Effect } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { makeCertificate } from "../support/pipelines/certificates.ts"
import { controlFeeds, faultyRuns, payloadFaults, serveEdition } from "../support/pipelines/commodity-faults.ts"
import { runCommodities } from "../support/pipelines/commodity-runs.ts"
import { matchesTemplate, readDocumentedFaults } from "../support/pipelines/documented-faults.ts"
import { rowsIn, temporaryHome } from "../support/pipelines/live-commodities.ts"
import { startTls } from "../support/pipelines/tls-host.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { makeRandom, seed } from "../support/seed.ts"

const { feeds } = catalog()

const runs = faultyRuns(makeRandom(seed))
const allFaults = runs.flatMap(({ faults }) => faults)
/** Reads the versions of prices and the cursor of each feed from the live generation. */
const readState = (home: string) =>
  Effect.gen(function* () {
    const versions = yield* rowsIn(
      home,
      `select feed, list_sort(list([metric_name, observed_on::varchar, value_text, published_at::varchar])) as prices
       from commodity.observation_version join ingest.raw_file using (raw_sha256) group by feed`
    )
    const cursors = yield* rowsIn(home, "select feed, read_to || ' by ' || run_id as cursor from ingest.cursor")
    const mapByFeed = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>, column: string) =>
      new Map(rows.map((row) => [String(row.feed), JSON.stringify(row[column])]))
    return { prices: mapByFeed(versions, "prices"), cursors: mapByFeed(cursors, "cursor") }
  })

const matrix = oncePerFile(
  Effect.gen(function* () {
    const home = yield* temporaryHome
    let serve = serveEdition([], 0)
    const upstream = yield* startUpstream((response, n, request) => serve(response, n, request))
    const secure = yield* startTls(makeCertificate({ name: "unknown", hosts: ["127.0.0.1"] }))
    const locations = { home, upstream: upstream.url, selfSigned: `https://127.0.0.1:${secure.port}` }
    const ended = []
    for (const [index, run] of runs.entries()) {
      serve = serveEdition(run.faults, index + 1)
      ended.push({ run, ...(yield* runCommodities(locations, run)), after: yield* readState(home) })
    }
    return { ended, left_out: yield* rowsIn(home, "select run_id, feed, kind, reason from ingest.left_out") }
  }).pipe(Effect.provide(NodeServices.layer))
)

/** The outcome of each fault, in the words of the table. */
const outcomes = Effect.map(matrix, ({ ended }) => {
  let before: (typeof ended)[number]["after"] = { prices: new Map(), cursors: new Map() }
  return ended.flatMap(({ after, exit, left_out, output, run }) => {
    const isNew = (feed: string) => before.prices.get(feed) !== after.prices.get(feed)
    const isKept = (feed: string) =>
      !isNew(feed) && after.prices.has(feed) && before.cursors.get(feed) === after.cursors.get(feed)
    const leftOut = new Set(left_out.map(({ feed }) => feed))
    const others = controlFeeds.filter((feed) => !leftOut.has(feed))
    const outcomes = run.faults.map(({ fault, feeds }) => {
      const faulty = feeds.filter((feed) => leftOut.has(feed))
      const all = faulty.every(isNew) ? "all feeds" : "the other feeds" // parts are published
      return {
        fault,
        published: others.every(isNew) ? all : "nothing",
        kept: faulty.length > 0 && faulty.every(isKept) ? "its last values" : "",
        exit: String(exit),
        leftOut: faulty,
        messages: exit === 4 ? left_out.flatMap(({ feed, reason }) => (feeds.includes(feed) ? [reason] : [])) : [output]
      }
    })
    before = after
    return outcomes
  })
})

describe("a fault of commodity feeds", () => {
  beforeAll(() => Effect.runPromise(Effect.asVoid(matrix)), 600_000) // each payload waits for the disk, which may be busy
  const documented = readDocumentedFaults("commodities")

  it("is in the table of docs/ingesting.md, which lists no others", () => {
    assert.sameMembers(
      documented.map(({ fault }) => fault),
      [...new Set([...allFaults, ...payloadFaults(makeRandom(seed))].map(({ fault }) => fault))]
    )
  })

  it.live.each(allFaults)("matches the table: $fault", ({ fault, feeds }) =>
    Effect.gen(function* () {
      const outcome = (yield* outcomes).find((other) => other.fault === fault)
      const table = documented.find((line) => line.fault === fault)
      assert.isDefined(outcome)
      const { exit, kept, leftOut, messages, published } = outcome
      const context = `${messages.join("\n")}\n(LARDER_TEST_SEED=${seed})`
      assert.deepStrictEqual(
        { published, kept, exit },
        { published: table?.published, kept: table?.kept, exit: table?.exit },
        context
      )
      assert.deepStrictEqual(leftOut, exit === "0" ? [] : [...feeds], context)
      for (const message of messages) {
        assert.isTrue(matchesTemplate(message, table?.message ?? ""), `${context}\nis not: ${table?.message}`)
      }
    })
  )

  it.live("is recorded with its reason for each feed that was left out, and for no other", () =>
    Effect.gen(function* () {
      const { ended, left_out } = yield* matrix
      const reported = ended.flatMap((run) => run.left_out)
      const format = ({ feed, kind, reason }: Readonly<Record<"feed" | "kind" | "reason", unknown>>) =>
        `${feed} ${kind} ${reason}`
      assert.sameMembers(left_out.map(format), reported.map(format))
    })
  )

  it.live("is corrected by the next successful run: all feeds then have their new values", () =>
    Effect.gen(function* () {
      const { ended } = yield* matrix
      const [before, last] = ended.slice(-2)
      assert.strictEqual(last?.exit, 0, last?.output)
      for (const { feed } of feeds)
        assert.notStrictEqual(last?.after.prices.get(feed), before?.after.prices.get(feed), feed)
    })
  )
})
