/**
 * Faults of branded foods in live runs in one home, in the test's own process: one of each kind, and all of the host. In
 * most runs both forms are faulty, so nothing may be published. `stage/form-faults.test.ts` loads files with each fault.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { type FileUnusable, fileOrigin } from "@larder/pipelines/run/origins/file.ts"
import type { Origin } from "@larder/pipelines/run/origins/origin.ts"
import { ingestFromOrigin } from "@larder/pipelines/run/run.ts"
import type { FeedLeftOut } from "@larder/schemas"
import { ChecksFailed } from "@larder/warehouse"
import {
  Clock,
  type Config,
  ConfigProvider,
  Effect,
  Exit,
  type FileSystem,
  Layer,
  Logger,
  type Path,
  Scope
} from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Form, forms } from "../support/label-releases.ts"
import { makeCertificate } from "../support/pipelines/certificates.ts"
import { matchesTemplate, readDocumentedFaults } from "../support/pipelines/documented-faults.ts"
import {
  type FaultyRelease,
  type FormFault,
  faultyFiles,
  faultyReleases,
  makeTolerated,
  unnumbered
} from "../support/pipelines/faulty-foods.ts"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import { redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"
import { goodFiles, goodZip, jsonRelease, recordOf } from "../support/pipelines/small-releases.ts"
import { startTls } from "../support/pipelines/tls-host.ts"
import { makeRandom, seed } from "../support/seed.ts"
import { ingest as ingestFile } from "./branded-foods.ts"
import { downloadPage, startFdcHost, zipAt } from "./fdc-host.ts"
import { generationOf, makeTestFolder, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn, listLeftovers } from "./small-releases.ts"

const releases = faultyReleases(makeRandom(seed))

const home = temporaryFolder()
const scope = Scope.makeUnsafe()
let host: Awaited<ReturnType<typeof startFdcHost>>
let tlsPort = 0
let day = 0

/** The real clock, shifted by `ms`. */
const shiftedClock = (ms: number) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(
      Clock.Clock,
      (clock): Clock.Clock =>
        Object.create(clock, {
          currentTimeMillisUnsafe: { value: () => clock.currentTimeMillisUnsafe() + ms },
          currentTimeMillis: { value: Effect.map(clock.currentTimeMillis, (now) => now + ms) }
        })
    )
  )

interface RunResult {
  readonly exit: number
  readonly left_out: ReadonlyArray<FeedLeftOut>
  readonly output: string
}

const untrustedCertificatePaths = new Set<string>()

/** Two attempts, and a response timeout of one second if the host does not respond. */
const makeLive = ({ hostHangs = false } = {}) => {
  const toAddress = ({ pathname }: URL) =>
    untrustedCertificatePaths.has(pathname)
      ? `https://127.0.0.1:${tlsPort}${pathname}`
      : `http://127.0.0.1:${host.port}${pathname}`
  return redirectHosts(toAddress, { ...unpaced, maxAttempts: 2, ...(hostHangs && { responseTimeout: "1 second" }) })
}

const ingest = (
  folder: string,
  origin: Layer.Layer<Origin, Config.ConfigError | FileUnusable, FileSystem.FileSystem | Path.Path> = makeLive(),
  clock = 0
): Promise<RunResult> => {
  const logs: Array<string> = []
  const keep = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  return ingestFromOrigin(brandedFoods, { home: folder, days: undefined, dryRun: false }).pipe(
    Effect.provide(origin),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({}))),
    Effect.provide([NodeServices.layer, Logger.layer([keep])]),
    Effect.provide(clock === 0 ? Layer.empty : shiftedClock(clock)),
    Effect.match({
      onSuccess: ({ left_out }) =>
        ({ exit: left_out.length === 0 ? 0 : 4, left_out, output: logs.join("\n") }) as const,
      onFailure: (error) =>
        ({
          exit: error instanceof ChecksFailed ? 3 : 1,
          left_out: "left_out" in error ? error.left_out : [],
          output: error.message
        }) as const
    }),
    Effect.runPromise
  )
}

const dayOf = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString().slice(0, 10)

/** Publishes a newer release on the download page of the host. */
const offerRelease = (offered: Readonly<Record<Form, FormFault>>) => {
  day += 1
  host.releases.clear()
  host.faults.clear()
  untrustedCertificatePaths.clear()
  for (const form of forms) {
    const address = addressOf(form)
    const { body, distrusted: isDistrusted, host: misbehaviour } = offered[form]
    host.releases.set(address, body ?? goodZip(700))
    if (misbehaviour !== undefined) host.faults.set(address, misbehaviour)
    if (isDistrusted) untrustedCertificatePaths.add(address)
  }
}
const addressOf = (form: Form) => zipAt(form, dayOf(day))
const validRelease = (json: number, csv: number): Readonly<Record<Form, FormFault>> => ({
  json: { fault: "", body: zipOf({ path: "release.json", content: jsonRelease([recordOf(json)]) }) },
  csv: { fault: "", body: goodZip(csv) }
})

const readState = async () => ({ generation: generationOf(home, "branded-foods"), foods: await foodsIn(home) })
beforeAll(async () => {
  host = await startFdcHost()
  const tls = startTls(makeCertificate({ name: "unknown", hosts: ["127.0.0.1"] }))
  tlsPort = (await Effect.runPromise(Scope.provide(tls, scope))).port
})
afterAll(async () => {
  host.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  removeFolder(home)
})

const table = readDocumentedFaults("branded foods")

/** Faults that do not stop either form from being published. */
const toleratedFaults = [
  "JSON: a key added",
  "CSV: a column added",
  "CSV: a file of the zip with fewer records than the release states",
  "a text that is not valid UTF-8",
  "a clock that is a day off"
]

describe("a release with tolerated faults", () => {
  it("is published, and its invalid values are recorded", async () => {
    const { csv, json } = makeTolerated(0)
    offerRelease({ json: { fault: "", body: json }, csv: { fault: "", body: csv } })
    const { exit, output } = await ingest(home, makeLive(), 86_400_000)
    expect(exit, output).toBe(0)
    expect(output).toContain("food_nutrient.csv has 3 records, and all_downloaded_table_record_counts.csv declares 30")
    expect(await foodsIn(home)).toEqual([1, 2, 3])
    const [fields, rejects] = await query(
      home,
      "select field from ingest.unknown_field order by all",
      "select feed, reason from ingest.reject where reason like '%UTF-8%' order by all"
    )
    expect(fields).toEqual([{ field: "food.new" }, { field: "newKey" }])
    expect(rejects?.map(({ feed }) => feed)).toEqual(["gov-fdc/csv/food.csv", "gov-fdc/json"])
    expect(
      table
        .filter(({ exit }) => exit === "0")
        .map(({ fault }) => fault)
        .toSorted()
    ).toEqual(toleratedFaults.toSorted())
  })
})

describe("a fault of both forms of a release", () => {
  /** Both forms faulty, one fault after the other. */
  const results: Array<RunResult & { readonly release: FaultyRelease; readonly isUnchanged: boolean }> = []
  beforeAll(async () => {
    const before = await readState()
    for (const release of releases) {
      offerRelease(release)
      const ended = await ingest(home, makeLive({ hostHangs: release.json.fault === "no response in time" }))
      results.push({ ...ended, release, isUnchanged: isDeepStrictEqual(await readState(), before) })
    }
  })

  it("publishes nothing, exits with 1 and reports both forms", () => {
    for (const { exit, isUnchanged, left_out, output, release } of results) {
      const faults = forms.map((form) => release[form].fault)
      const feeds = left_out.map(({ feed }) => feed).toSorted()
      expect([...faults, exit, isUnchanged, feeds]).toEqual([...faults, 1, true, ["gov-fdc/csv", "gov-fdc/json"]])
      for (const { reason } of left_out) expect(output).toContain(reason)
    }
    expect(listLeftovers(home)).toEqual([])
  })

  it("matches the table in docs/ingesting.md exactly", () => {
    const tested = new Set([
      ...[...releases, ...faultyFiles(makeRandom(seed))].flatMap((release) => forms.map((form) => release[form].fault)),
      ...toleratedFaults
    ])
    expect(table.map(({ fault }) => fault).toSorted()).toEqual([...tested].toSorted())
  })

  const run = new Set(releases.flatMap(({ csv, json }) => [csv.fault, json.fault]))
  it.each(table.filter(({ exit, fault }) => exit !== "0" && run.has(fault)))(
    "reports the documented message: $fault",
    (row) => {
      const { exit, fault, kept, message, published } = row
      expect({ exit, kept, published }).toEqual({ exit: "4", kept: "its last labels", published: "the other form" })
      const reasons = results.flatMap(({ left_out, release }) =>
        forms.flatMap((form) => {
          const found = left_out.find(({ feed }) => feed === `gov-fdc/${form}`)
          return release[form].fault === fault ? [found?.reason ?? "none"] : []
        })
      )
      expect(reasons.length).toBeGreaterThan(0)
      for (const reason of reasons)
        expect(matchesTemplate(reason, message), `${reason}\n(LARDER_TEST_SEED=${seed})`).toBe(true)
    }
  )
})

describe("a fault of one form of a release", () => {
  const findFault = (form: Form, fault: string): FormFault => {
    const found = releases.find((release) => release[form].fault === fault)
    if (found === undefined) throw new Error(`no release has ${fault}`)
    return found[form]
  }
  it("publishes only the CSV form if the JSON form is faulty, without any JSON rows", async () => {
    offerRelease({ json: findFault("json", "JSON: a key missing"), csv: validRelease(0, 20).csv })
    expect(await ingest(home)).toMatchObject({ exit: 4, left_out: [{ feed: "gov-fdc/json", kind: "untrusted" }] })
    expect(await foodsIn(home)).toEqual([1, 2, 3, 21, 22, 23])
  })

  it("leaves out a form that cannot be fetched, and publishes the other", async () => {
    offerRelease({ json: validRelease(30, 0).json, csv: findFault("csv", "500 to each try") })
    expect(await ingest(home)).toMatchObject({ exit: 4, left_out: [{ feed: "gov-fdc/csv", kind: "unreachable" }] })
    expect(await foodsIn(home)).toEqual([1, 2, 3, 21, 22, 23, 30])
  })

  it("publishes only the JSON form if the CSV form is faulty, without any CSV rows", async () => {
    offerRelease({ json: validRelease(40, 0).json, csv: findFault("csv", "CSV: a column of another type") })
    expect(await ingest(home)).toMatchObject({ exit: 4, left_out: [{ feed: "gov-fdc/csv", kind: "untrusted" }] })
    expect(await foodsIn(home)).toEqual([1, 2, 3, 21, 22, 23, 30, 40])
    const [rejects] = await query(
      home,
      "select * from ingest.reject where feed like 'gov-fdc/csv%' and reason like 'amount%'"
    )
    expect(rejects).toEqual([])
  })

  it("makes the next successful run fetch only the missing form", async () => {
    host.releases.set(addressOf("csv"), goodZip(40))
    host.takeRequests()
    expect(await ingest(home)).toMatchObject({ exit: 0, left_out: [] })
    expect(host.takeRequests()).toEqual([downloadPage, addressOf("csv")])
    expect(await foodsIn(home)).toEqual([1, 2, 3, 21, 22, 23, 30, 40, 41, 42, 43])
    const [left] = await query(home, "select distinct feed, kind from ingest.left_out order by all")
    expect(left).toEqual([
      { feed: "gov-fdc/csv", kind: "unreachable" },
      { feed: "gov-fdc/csv", kind: "untrusted" },
      { feed: "gov-fdc/json", kind: "unreachable" },
      { feed: "gov-fdc/json", kind: "untrusted" }
    ])
  })
})

describe("a release truncated between two records", () => {
  it("is published only with --accept-shrinkage", async () => {
    const file = path.join(makeTestFolder(), path.basename(addressOf("csv")))
    const truncatedFiles = goodFiles(40).map((part) =>
      part.path === "food_nutrient.csv" ? { ...part, content: part.content.toString().replace(/[^\n]+\n$/, "") } : part
    )
    writeFileSync(file, zipOf(...truncatedFiles))
    const countAmounts = async () => {
      const [rows] = await query(
        home,
        "select len(nutrients)::integer as amounts from branded_food.food where fdc_id = 43"
      )
      return rows
    }
    const { exit, output } = await ingest(home, fileOrigin(file))
    expect({ exit, output }).toEqual({
      exit: 3,
      output: expect.stringMatching(
        /labels_keep_nutrients: .*"before":11,"now":10,"percent_fewer":9\.1.*--accept-shrinkage publishes them anyway/s
      )
    })
    expect(await countAmounts()).toEqual([{ amounts: 1 }])
    const { code, stderr } = await ingestFile(home, file, "--accept-shrinkage")
    expect(code, stderr).toBe(0)
    expect(await countAmounts()).toEqual([{ amounts: 0 }])
    const [outcomes] = await query(
      home,
      "select severity, bad_rows::integer as bad_rows from ingest.check_result where name = 'labels_keep_nutrients' and bad_rows > 0 order by all"
    )
    expect(outcomes).toEqual([
      { severity: "error", bad_rows: 1 },
      { severity: "warning", bad_rows: 1 }
    ])
  })
})

describe("a nutrient number that only an earlier release stated", () => {
  it("survives later releases that omit it", async () => {
    const [rows] = await query(home, "select number from branded_food.nutrient where nutrient_id = 2067")
    expect(rows).toEqual([{ number: unnumbered.number }])
  })
})

describe("a CSV folder without a required file", () => {
  it("is rejected, and the message names the file", async () => {
    const folder = makeTestFolder()
    for (const { content, path: name } of goodFiles()) {
      if (name !== "branded_food.csv") writeFileSync(path.join(folder, name), content)
    }
    const { exit, output } = await ingest(makeTestFolder(), fileOrigin(folder))
    expect({ exit, output }).toEqual({
      exit: 1,
      output: expect.stringMatching(
        /^The folder larder-end-to-end-\w+ has no branded_food\.csv\. It contains food\.csv, food_nutrient\.csv\./
      )
    })
  })
})
