/**
 * The fault matrix of branded foods: live runs in one home, in the test's own process. Most of them meet a fault in each form, so
 * that each leaves the warehouse as it was. Some 12 s of CPU.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { brandedFoods, type FileUnusable, fileOrigin, ingestFromOrigin, type Origin } from "@larder/pipelines"
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
import { documentedFaults, says } from "../support/pipelines/documented-faults.ts"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import { hostsMoved, unpaced } from "../support/pipelines/live-runs.ts"
import { startTls } from "../support/pipelines/tls-host.ts"
import { seed, seeded } from "../support/seed.ts"
import { ingest as ingestFile } from "./branded-foods.ts"
import { type FaultyRelease, type FormFault, faultyReleases, tolerated, unnumbered } from "./faulty-foods.ts"
import { page, startFdcHost, zipAt } from "./fdc-host.ts"
import { folderOfTest, generationOf, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn, goodFiles, goodZip, jsonRelease, leftovers, recordOf } from "./small-releases.ts"

const releases = faultyReleases(seeded(seed))

const home = temporaryFolder()
const scope = Scope.makeUnsafe()
let host: Awaited<ReturnType<typeof startFdcHost>>
let secure = 0
let day = 0

/** The machine's clock, so many milliseconds off. */
const clockOff = (ms: number) =>
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

interface Ended {
  readonly exit: number
  readonly left_out: ReadonlyArray<FeedLeftOut>
  readonly told: string
}

const distrusted = new Set<string>()

/** Two tries, and a second for the head of an answer where none comes. */
const live = (hangs = false) => {
  const toPath = ({ pathname }: URL) =>
    distrusted.has(pathname) ? `https://127.0.0.1:${secure}${pathname}` : `http://127.0.0.1:${host.port}${pathname}`
  return hostsMoved(toPath, { ...unpaced, maxTries: 2, ...(hangs && { responseTimeout: "1 second" }) })
}

const ingest = (
  folder: string,
  origin: Layer.Layer<Origin, Config.ConfigError | FileUnusable, FileSystem.FileSystem | Path.Path> = live(),
  clock = 0
): Promise<Ended> => {
  const logs: Array<string> = []
  const keep = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  return ingestFromOrigin(brandedFoods, { home: folder, days: undefined, dryRun: false }).pipe(
    Effect.provide(origin),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({}))),
    Effect.provide([NodeServices.layer, Logger.layer([keep])]),
    Effect.provide(clock === 0 ? Layer.empty : clockOff(clock)),
    Effect.match({
      onSuccess: ({ left_out }) => ({ exit: left_out.length === 0 ? 0 : 4, left_out, told: logs.join("\n") }) as const,
      onFailure: (error) =>
        ({
          exit: error instanceof ChecksFailed ? 3 : 1,
          left_out: "left_out" in error ? error.left_out : [],
          told: error.message
        }) as const
    }),
    Effect.runPromise
  )
}

const dayOf = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString().slice(0, 10)

/** A newer release is on the page. */
const release = (offered: Readonly<Record<Form, FormFault>>) => {
  day += 1
  host.releases.clear()
  host.faults.clear()
  distrusted.clear()
  for (const form of forms) {
    const address = at(form)
    const { body, distrusted: isDistrusted, host: misbehaviour } = offered[form]
    host.releases.set(address, body ?? goodZip(700))
    if (misbehaviour !== undefined) host.faults.set(address, misbehaviour)
    if (isDistrusted) distrusted.add(address)
  }
}
const at = (form: Form) => zipAt(form, dayOf(day))
const good = (json: number, csv: number): Readonly<Record<Form, FormFault>> => ({
  json: { fault: "", body: zipOf({ path: "release.json", content: jsonRelease([recordOf(json)]) }) },
  csv: { fault: "", body: goodZip(csv) }
})

const state = async () => ({ generation: generationOf(home, "branded-foods"), foods: await foodsIn(home) })
beforeAll(async () => {
  host = await startFdcHost()
  const tls = startTls(makeCertificate({ name: "unknown", hosts: ["127.0.0.1"] }))
  secure = (await Effect.runPromise(Scope.provide(tls, scope))).port
})
afterAll(async () => {
  host.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  removeFolder(home)
})

const table = documentedFaults("branded foods")

/** A warehouse that met these publishes both forms. */
const toleratedFaults = [
  "JSON: a key added",
  "CSV: a column added",
  "CSV: a file of the zip with fewer records than the release states",
  "a text that is not valid UTF-8",
  "a clock that is a day off"
]

describe("a release with faults that are no reason to leave out a form", () => {
  it("is published, and its unusable values are recorded", async () => {
    const { csv, json } = tolerated(0)
    release({ json: { fault: "", body: json }, csv: { fault: "", body: csv } })
    const { exit, told } = await ingest(home, live(), 86_400_000)
    expect(exit, told).toBe(0)
    expect(told).toContain("food_nutrient.csv has 3 records, and all_downloaded_table_record_counts.csv declares 30")
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
  const met: Array<Ended & { readonly of: FaultyRelease; readonly isUnchanged: boolean }> = []
  beforeAll(async () => {
    const before = await state()
    for (const of of releases) {
      release(of)
      const ended = await ingest(home, live(of.json.fault === "no answer in time"))
      met.push({ ...ended, of, isUnchanged: isDeepStrictEqual(await state(), before) })
    }
  })

  it("publishes nothing, exits with 1 and names both", () => {
    for (const { exit, isUnchanged, left_out, of, told } of met) {
      const faults = forms.map((form) => of[form].fault)
      const feeds = left_out.map(({ feed }) => feed).toSorted()
      expect([...faults, exit, isUnchanged, feeds]).toEqual([...faults, 1, true, ["gov-fdc/csv", "gov-fdc/json"]])
      for (const { reason } of left_out) expect(told).toContain(reason)
    }
    expect(leftovers(home)).toEqual([])
  })

  it("is in the table of docs/ingesting.md, which lists no others", () => {
    const tested = new Set([...releases.flatMap((of) => forms.map((form) => of[form].fault)), ...toleratedFaults])
    expect(table.map(({ fault }) => fault).toSorted()).toEqual([...tested].toSorted())
  })

  it.each(table.filter(({ exit }) => exit !== "0"))("is told as the table says: $fault", (row) => {
    const { exit, fault, kept, message, published } = row
    expect({ exit, kept, published }).toEqual({ exit: "4", kept: "its last labels", published: "the other form" })
    const reasons = met.flatMap(({ left_out, of }) =>
      forms.flatMap((form) => {
        const found = left_out.find(({ feed }) => feed === `gov-fdc/${form}`)
        return of[form].fault === fault ? [found?.reason ?? "none"] : []
      })
    )
    expect(reasons.length).toBeGreaterThan(0)
    for (const reason of reasons) expect(says(reason, message), `${reason}\n(LARDER_TEST_SEED=${seed})`).toBe(true)
  })
})

describe("a fault of one form of a release", () => {
  const faulty = (form: Form, fault: string): FormFault => {
    const found = releases.find((of) => of[form].fault === fault)
    if (found === undefined) throw new Error(`no release has ${fault}`)
    return found[form]
  }
  it("leaves out the JSON form and publishes the CSV form, with nothing of the other", async () => {
    release({ json: faulty("json", "JSON: a key renamed"), csv: good(0, 20).csv })
    expect(await ingest(home)).toMatchObject({ exit: 4, left_out: [{ feed: "gov-fdc/json", kind: "untrusted" }] })
    expect(await foodsIn(home)).toEqual([1, 2, 3, 21, 22, 23])
  })

  it("leaves out a form that cannot be fetched, and publishes the other", async () => {
    release({ json: good(30, 0).json, csv: faulty("csv", "500 to each try") })
    expect(await ingest(home)).toMatchObject({ exit: 4, left_out: [{ feed: "gov-fdc/csv", kind: "unreachable" }] })
    expect(await foodsIn(home)).toEqual([1, 2, 3, 21, 22, 23, 30])
  })

  it("leaves out the CSV form and publishes the JSON form, with nothing of the other", async () => {
    release({ json: good(40, 0).json, csv: faulty("csv", "CSV: a column of another type") })
    expect(await ingest(home)).toMatchObject({ exit: 4, left_out: [{ feed: "gov-fdc/csv", kind: "untrusted" }] })
    expect(await foodsIn(home)).toEqual([1, 2, 3, 21, 22, 23, 30, 40])
    const [rejects] = await query(
      home,
      "select * from ingest.reject where feed like 'gov-fdc/csv%' and reason like 'amount%'"
    )
    expect(rejects).toEqual([])
  })

  it("is made up for by the next good run, which requests nothing else", async () => {
    host.releases.set(at("csv"), goodZip(40))
    host.asked()
    expect(await ingest(home)).toMatchObject({ exit: 0, left_out: [] })
    expect(host.asked()).toEqual([page, at("csv")])
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

describe("a release that was cut between two records", () => {
  it("is published only if the operator accepts that labels lose nutrients", async () => {
    const file = path.join(folderOfTest(), path.basename(at("csv")))
    const lacking = goodFiles(40).map((part) =>
      part.path === "food_nutrient.csv" ? { ...part, content: part.content.toString().replace(/[^\n]+\n$/, "") } : part
    )
    writeFileSync(file, zipOf(...lacking))
    const amounts = async () => {
      const [rows] = await query(
        home,
        "select len(nutrients)::integer as amounts from branded_food.food where fdc_id = 43"
      )
      return rows
    }
    const { exit, told } = await ingest(home, fileOrigin(file))
    expect({ exit, told }).toEqual({
      exit: 3,
      told: expect.stringMatching(
        /labels_keep_nutrients: .*"before":11,"now":10,"percent_fewer":9\.1.*with --accept-shrinkage fewer are published/s
      )
    })
    expect(await amounts()).toEqual([{ amounts: 1 }])
    const { code, stderr } = await ingestFile(home, file, "--accept-shrinkage")
    expect(code, stderr).toBe(0)
    expect(await amounts()).toEqual([{ amounts: 0 }])
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

describe("the number of a nutrient that only an earlier release stated", () => {
  it("is kept after later releases", async () => {
    const [rows] = await query(home, "select number from branded_food.nutrient where nutrient_id = 2067")
    expect(rows).toEqual([{ number: unnumbered.number }])
  })
})

describe("a folder of CSV files without one that is needed", () => {
  it("is refused with the name of that file", async () => {
    const folder = folderOfTest()
    for (const { content, path: name } of goodFiles()) {
      if (name !== "branded_food.csv") writeFileSync(path.join(folder, name), content)
    }
    const { exit, told } = await ingest(folderOfTest(), fileOrigin(folder))
    expect({ exit, told }).toEqual({
      exit: 1,
      told: expect.stringMatching(
        /^The folder larder-end-to-end-\w+ has no branded_food\.csv\. It contains food\.csv, food_nutrient\.csv\./
      )
    })
  })
})
