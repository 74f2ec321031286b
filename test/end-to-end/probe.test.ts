/** Verdicts of a probe about live sources: real requests over real HTTP, with only the hosts replaced. */
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { type FeedVerdict, formatReport, probeExitCode } from "@larder/pipelines/probe/verdict.ts"
import { liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { makeAuthority, makeCertificate } from "../support/pipelines/certificates.ts"
import { aRange, bodyOf, feedNamed, type Row, sectionsBody } from "../support/pipelines/commodity-payloads.ts"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import { ingestLive, redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"
import { goodFiles, goodZip, jsonRelease, recordOf } from "../support/pipelines/small-releases.ts"
import { hasty, range, startShop } from "../support/pipelines/store-host.ts"
import { startTls, trustAuthority } from "../support/pipelines/tls-host.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { startFdcHost, zipAt } from "./fdc-host.ts"
import { makeTestFolder, removeFolder, temporaryFolder } from "./ingesting.ts"
import { key, liveFrom, makeRecent, probe, startServices } from "./probing.ts"
import { writeFiles } from "./storefronts.ts"

const { feeds } = catalog()
const east = feedNamed("gov-mars/1047")

const findVerdict = (verdicts: ReadonlyArray<FeedVerdict>, feed: string) =>
  verdicts.find((other) => other.feed === feed) ?? assert.fail(`no verdict for ${feed}`)

describe("a probe of commodities", () => {
  it.live("requests a few weeks of each feed, and reports differences from the catalog", () =>
    Effect.gen(function* () {
      const central = feedNamed("gov-mars/1089")
      const services = yield* startServices({
        "gov-mars/1043": {
          body: makeRecent(
            bodyOf(feedNamed("gov-mars/1043"), [aRange(1043, { commodity: "Dry Buttermilk", heat: "Low" })])
          )
        },
        [east.feed]: { body: makeRecent(bodyOf(east, [aRange(1047)])).replaceAll("price_m", "cost_m") },
        "gov-mars/1623": { body: sectionsBody({ "Dairy Monthly Averages": [] }) },
        [central.feed]: { body: "<html><title>Blocked by policy</title>", type: "text/html" },
        "gov-mars/1090": { status: 404, body: "" },
        "gov-mars/1091": { body: bodyOf(feedNamed("gov-mars/1091"), []) }
      })
      const verdicts = yield* probe(commodities, { origin: liveFrom(services) })
      assert.match(
        findVerdict(verdicts, "gov-mars/1603").detail,
        /^CME Group - Daily Cash Trading - Week to Date, 5 rows, 5 prices to publish, newest 2\d{3}-/
      )
      assert.deepStrictEqual(findVerdict(verdicts, "gov-mars/1043").notes, ["unmapped columns: heat"])
      assert.match(findVerdict(verdicts, east.feed).detail, /^The report has changed: the column price_min is missing/)
      assert.include(findVerdict(verdicts, "gov-mars/1623").detail, 'lacks the section "CME Monthly Averages"')
      assert.include(
        findVerdict(verdicts, central.feed).detail,
        "is an HTML or XML page, not JSON: a proxy or a captive portal"
      )
      assert.include(findVerdict(verdicts, "gov-mars/1090").detail, "HTTP 404 Not Found")
      assert.match(
        findVerdict(verdicts, "gov-mars/1091").detail,
        /^Butter - West U\.S\. has no row of 2\d{3}-\d\d-\d\d to 2\d{3}-/
      )
      const states = Map.groupBy(verdicts, ({ verdict }) => verdict)
      assert.deepStrictEqual(
        states.get("differs")?.map(({ feed }) => feed),
        ["gov-mars/1623", east.feed, central.feed]
      )
      assert.deepStrictEqual(
        states.get("unreachable")?.map(({ feed }) => feed),
        ["gov-mars/1090"]
      )
      assert.lengthOf(verdicts, feeds.length)
      assert.strictEqual(probeExitCode(verdicts), 4)
      assert.isTrue(
        services.requests.every(({ url }) => /[?&]q=[a-z_]+%3D/.test(url)),
        "no whole history is requested"
      )
    }).pipe(Effect.scoped)
  )

  const olderRow = (monday: string, row: Row) =>
    aRange(1047, { report_begin_date: monday, published_date: `${monday} 00:00:00`, ...row })

  it.live("requests a window of each era, and tells what a first run would publish and reject there", () =>
    Effect.gen(function* () {
      const services = yield* startServices()
      const rows = [
        olderRow("06/07/2004", { region: "Northeast", slug_name: "MD_DA810" }),
        olderRow("06/14/2004", { region: "Southeast" })
      ]
      const proxied = yield* startUpstream((response, _, { url }) => {
        if (url.includes("reports/1047") && url.includes("2004")) {
          return void response.writeHead(200, { "content-type": "application/json" }).end(bodyOf(east, rows))
        }
        response.writeHead(307, { location: `${services.url}${url}` }).end()
      })
      const verdict = findVerdict(yield* probe(commodities, { origin: liveFrom(proxied) }), east.feed)
      assert.deepInclude(verdict, { verdict: "ok", rows: 3, prices: 8, rejected: 1 })
      assert.include(
        verdict.notes.join("\n"),
        '1 of 3 rows would be rejected, such as: it states region "Southeast", which the catalog does not know'
      )
      const years = proxied.requests.flatMap(({ url }) => /reports\/1047.*%2F(\d{4})%3A/.exec(url)?.[1] ?? [])
      assert.deepStrictEqual(years.slice(1), ["2020", "2014", "2004"])
    }).pipe(Effect.scoped)
  )

  it.live("reads whole histories with --full, and tells which part of a report a run would leave out", () =>
    Effect.gen(function* () {
      const rows = [
        aRange(1047),
        olderRow("06/07/2004", { region: "Here" }),
        olderRow("06/14/2004", { region: "There" })
      ]
      const services = yield* startServices({ [east.feed]: { body: bodyOf(east, rows) } })
      const verdicts = yield* probe(commodities, { origin: liveFrom(services), isFull: true })
      assert.isFalse(services.requests.some(({ url }) => /[?&]q=/.test(url)))
      const { detail, verdict } = findVerdict(verdicts, east.feed)
      assert.strictEqual(verdict, "differs")
      assert.match(
        detail,
        /^left out in part: 2 of 3 rows were rejected \(66\.7 %\), most often because it states region/
      )
    }).pipe(Effect.scoped)
  )

  it.live("requests nothing that requires a key when there is none, and names the variable", () =>
    Effect.gen(function* () {
      const services = yield* startServices()
      const verdicts = yield* probe(commodities, { origin: liveFrom(services), environment: {} })
      assert.match(
        formatReport(verdicts),
        /My Market News .*: 0 of 27 ok\n {2}not asked {4}27 feeds, .*: MARS_API_KEY is not set: get a free key/
      )
      assert.isFalse(services.requests.some(({ url }) => url.includes("marsapi")))
      assert.strictEqual(probeExitCode(verdicts), 4)
    }).pipe(Effect.scoped)
  )

  it.live("stops after three feeds in a row that fail in the same way: refusals of the key, responses of 500", () =>
    Effect.gen(function* () {
      const services = yield* startUpstream((response, _, { url }) =>
        response.writeHead(url.includes("marsapi") ? 403 : 500).end('{"message":"Access is denied"}')
      )
      const verdicts = yield* probe(commodities, { origin: liveFrom(services) })
      assert.include(findVerdict(verdicts, "gov-mars/1603").detail, "Check the key in MARS_API_KEY")
      assert.strictEqual(findVerdict(verdicts, "gov-mars/1099").detail, "the same happened for 3 feeds in a row")
      const byUrl = Map.groupBy(services.requests, ({ url }) => url)
      const urls = [...byUrl.keys()]
      assert.deepStrictEqual(
        ["marsapi", "mpr"].map((host) => urls.filter((url) => url.includes(host)).length),
        [3, 3]
      )
      assert.strictEqual(probeExitCode(verdicts), 1)
      assert.notInclude(JSON.stringify(verdicts), key.MARS_API_KEY)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    [{ status: 410, body: "" }, "unreachable", /the API has moved; install a newer version of Larder/],
    [{ body: bodyOf(feedNamed("gov-mars/1603"), []) }, "differs", /like every other report of this service/]
  ] as const)(
    "reports a fault of all reports of a service as a fault of the service: %s",
    ([response, verdict, detail]) =>
      Effect.gen(function* () {
        const services = yield* startServices({ "*": response })
        const verdicts = yield* probe(commodities, { origin: liveFrom(services) })
        assert.strictEqual(findVerdict(verdicts, "gov-mars/1099").verdict, verdict)
        assert.match(findVerdict(verdicts, "gov-mars/1099").detail, detail)
      }).pipe(Effect.scoped)
  )
})

/** Returns the lines of a report, without the headings of the services. */
const selectLines = (text: string) => text.split("\n").filter((line) => line.startsWith("  "))

describe("a fault that affects all feeds", () => {
  it.live.each([
    [
      "an API that has moved",
      { status: 404, body: "" },
      /unreachable {2}\d+ feeds, .*: no report of this service is at its address anymore .*: the API has moved; install a newer version/
    ],
    [
      "a proxy that responds with a page",
      { body: "<html><title>Blocked by policy</title>", type: "text/html" },
      /differs {6}\d+ feeds, .*: the payload is an HTML or XML page, .* may respond in place of the service; sign in to the network/
    ]
  ] as const)("is reported once: %s", ([, response, expected]) =>
    Effect.gen(function* () {
      const services = yield* startServices({ "*": response })
      const lines = selectLines(formatReport(yield* probe(commodities, { origin: liveFrom(services) })))
      assert.lengthOf(lines, 2, lines.join("\n"))
      for (const line of lines) assert.match(line, expected)
    }).pipe(Effect.scoped)
  )

  it.live("is reported once, after three feeds: a captive portal", () =>
    Effect.gen(function* () {
      const page = yield* startUpstream((response) =>
        response.writeHead(200, { "content-type": "text/html" }).end("<html><title>Hotel</title>")
      )
      const portal = page.url.replace("127.0.0.1", "localhost")
      const services = yield* startUpstream((response) => response.writeHead(302, { location: portal }).end())
      const lines = selectLines(formatReport(yield* probe(commodities, { origin: liveFrom(services) })))
      assert.match(lines[0] ?? "", /responds with an HTML page instead of data.*sign in there and run again/)
      assert.match(lines[1] ?? "", /not asked {4}24 feeds/)
      assert.lengthOf(services.requests, 6)
    }).pipe(Effect.scoped)
  )

  it.live("is reported once, after three feeds: a captive portal that redirects from HTTPS to HTTP", () =>
    Effect.gen(function* () {
      const authority = makeAuthority()
      yield* trustAuthority(authority)
      const paths: Array<string> = []
      const { port } = yield* startTls(authority.issue(["127.0.0.1"]), ({ url }, response) => {
        paths.push(url ?? "")
        response.writeHead(302, { location: "http://portal.example/login" }).end()
      })
      const origin = redirectHosts(({ pathname, search }) => `https://127.0.0.1:${port}${pathname}${search}`, unpaced)
      const lines = selectLines(formatReport(yield* probe(commodities, { origin })))
      assert.match(
        lines[0] ?? "",
        /redirects from https to http, to portal\.example\. If that .* sign in there and run/
      )
      assert.match(lines[1] ?? "", /not asked {4}24 feeds/)
      assert.lengthOf(lines, 4)
      assert.lengthOf(paths, 6)
      const { problem, run } = yield* Effect.acquireUseRelease(
        Effect.sync(temporaryFolder),
        (home) => Effect.promise(() => ingestLive(commodities, { home, environment: key, origin })),
        (home) => Effect.sync(() => removeFolder(home))
      )
      assert.isNull(run)
      assert.lengthOf(problem.match(/sign in there and run again/g) ?? [], 1, "here, both services have one host")
      assert.lengthOf(paths, 6 + feeds.length, "one try for each feed")
    }).pipe(Effect.scoped)
  )

  it.live("is reported once, after three feeds: a certificate that is not trusted", () =>
    Effect.gen(function* () {
      const { port } = yield* startTls(makeCertificate({ name: "unknown", hosts: ["127.0.0.1"] }))
      const origin = redirectHosts(({ pathname, search }) => `https://127.0.0.1:${port}${pathname}${search}`, unpaced)
      const verdicts = yield* probe(commodities, { origin })
      const lines = selectLines(formatReport(verdicts))
      assert.match(lines[0] ?? "", /is not signed by an authority that this machine trusts .* in NODE_EXTRA_CA_CERTS/)
      assert.match(lines[1] ?? "", /not asked {4}24 feeds/)
      assert.strictEqual(probeExitCode(verdicts), 1)
    }).pipe(Effect.scoped)
  )
})

const day = "2026-04-30"
const startFdc = Effect.acquireRelease(Effect.promise(startFdcHost), (host) => Effect.sync(() => host.close()))

describe("a probe of branded foods", () => {
  it.live("reads the list and the first records of each zip, not the whole zip", () =>
    Effect.gen(function* () {
      const host = yield* startFdc
      const noise = Buffer.from(Array.from({ length: 900_000 }, (_, n) => Math.imul(n, 2_654_435_761) >>> 24))
      const files = [...goodFiles(), { path: "food_portion.csv", content: noise }]
      host.releases.set(zipAt("csv", day), zipOf(...files))
      host.releases.set(
        zipAt("json", day),
        zipOf({ path: "brandedDownload.json", content: jsonRelease([recordOf(1, { novelty: 1 }), recordOf(2)]) })
      )
      const verdicts = yield* probe(brandedFoods, { origin: host.origin })
      assert.include(findVerdict(verdicts, "gov-fdc/csv").detail, "food.csv, branded_food.csv, food_nutrient.csv")
      assert.include(findVerdict(verdicts, "gov-fdc/json").detail, "its first 2 foods can be read")
      assert.deepStrictEqual(findVerdict(verdicts, "gov-fdc/json").notes, ["unmapped keys: novelty"])
      assert.deepStrictEqual(
        verdicts.map(({ newest_day }) => newest_day),
        [day, day]
      )
      assert.strictEqual(probeExitCode(verdicts), 0)
    }).pipe(Effect.scoped)
  )

  it.live("reports a missing column, a missing file, and a page that names no release", () =>
    Effect.gen(function* () {
      const host = yield* startFdc
      const renamed = goodFiles().map(({ content, path }) => ({
        path,
        content: Buffer.from(String(content).replace("gtin_upc", "gtin"))
      }))
      host.releases.set(zipAt("csv", day), zipOf(...renamed))
      host.releases.set(zipAt("json", day), goodZip())
      const verdicts = yield* probe(brandedFoods, { origin: host.origin })
      assert.include(
        findVerdict(verdicts, "gov-fdc/csv").detail,
        'branded_food.csv line 1: the header has no column "gtin_upc"'
      )
      assert.include(findVerdict(verdicts, "gov-fdc/json").detail, "the zip has no .json")
      host.releases.clear()
      host.releases.set("/other", Buffer.from("nothing"))
      const withoutRelease = yield* probe(brandedFoods, { origin: host.origin })
      assert.include(findVerdict(withoutRelease, "gov-fdc").detail, "No release of branded foods was found")
    }).pipe(Effect.scoped)
  )
})

describe("a probe of stores", () => {
  it.live("reads the first page of each, and obeys robots.txt", () =>
    Effect.gen(function* () {
      const open = yield* startShop({ pages: [range(1, 250), range(251, 300)] })
      const closed = yield* startShop({ pages: [range(1, 3)], robots: "User-agent: *\nDisallow: /products.json" })
      const page = yield* startUpstream((response) => response.end("<!doctype html><title>Shop</title>"))
      const files = yield* Effect.sync(() => makeTestFolder())
      const entry = (name: string, { url: location }: { readonly url: string }) => ({
        domain: `${name}.example`,
        name,
        kind: name === "feed" ? "google-merchant" : "shopify",
        location
      })
      const list = [entry("open", open), entry("closed", closed), entry("page", page)]
      const stores = path.join(writeFiles(files, { "list.json": list }), "list.json")
      const verdicts = yield* probe(storefronts, {
        stores,
        origin: liveOrigin(hasty),
        environment: { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
      })
      assert.deepInclude(findVerdict(verdicts, "store/open.example"), {
        verdict: "ok",
        detail: "the first 250 products can be read",
        notes: []
      })
      assert.deepStrictEqual(
        open.requests.map(({ url }) => url),
        ["/robots.txt", "/meta.json", "/products.json?limit=250&page=1"]
      )
      assert.strictEqual(findVerdict(verdicts, "store/closed.example").verdict, "unreachable")
      assert.include(findVerdict(verdicts, "store/closed.example").detail, "robots.txt forbids /products.json")
      assert.strictEqual(findVerdict(verdicts, "store/page.example").verdict, "differs")
      assert.strictEqual(probeExitCode(verdicts), 4)
    }).pipe(Effect.scoped)
  )
})
