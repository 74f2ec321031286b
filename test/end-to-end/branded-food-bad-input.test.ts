/**
 * Releases of branded foods that cannot be trusted as a whole, and full disks: the error names the file, the old
 * generation stays live, and the run leaves no files. One release for each step that can reject it; unit tests cover every
 * fault of zips, headers and lists of records.
 */
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Part, zipOf } from "../support/pipelines/handmade-zips.ts"
import { csvFiles, goodFiles, goodZip, jsonRelease, largeZip, recordOf } from "../support/pipelines/small-releases.ts"
import { run, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { copyForTest, query, removeFolder, runStatus, temporaryFolder } from "./ingesting.ts"
import { expectOldFoods, load } from "./small-releases.ts"

let home = ""
const writeRelease = (name: string, content: Buffer | string) => {
  const file = path.join(home, name)
  writeFileSync(file, content)
  return file
}

beforeAll(async () => {
  home = temporaryFolder()
  const { code, stderr } = await load(home, writeRelease("good.zip", goodZip()))
  if (code !== 0) throw new Error(stderr)
})
afterAll(() => removeFolder(home))

/** Foods that are not live: a test detects whether any of them was loaded. */
const otherFiles = goodFiles(500)
const changeFile = (name: string, change: (content: string) => string | Buffer): ReadonlyArray<Part> =>
  otherFiles.map((part) => (part.path === name ? { ...part, content: change(part.content.toString()) } : part))
const zip = goodZip(500)
const flipBits = (at: number) => {
  const bytes = Buffer.from(zip)
  bytes[at] = (bytes[at] ?? 0) ^ 0x55
  return bytes
}
const truncatedJson = jsonRelease([recordOf(501), recordOf(502)]).subarray(0, -60)

const releases: ReadonlyArray<readonly [fault: string, name: string, content: Buffer | string, message: RegExp]> = [
  ["a truncated zip", "truncated.zip", zip.subarray(0, 300), /truncated\.zip cannot be read: it was cut off/],
  ["a damaged zip", "flip.zip", flipBits(80), /food\.csv in flip\.zip cannot be read: /],
  [
    "a missing member",
    "few.zip",
    zipOf(...otherFiles.slice(0, 2)),
    /few\.zip has no food_nutrient\.csv\. It contains food\.csv, branded_food\.csv/
  ],
  [
    "a header without a required column",
    "header.zip",
    zipOf(...changeFile("food.csv", (text) => text.replace('"description"', '"title"'))),
    /food\.csv line 1: the header has no column "description", which the mapping needs\. Found: fdc_id, data_type, title/
  ],
  [
    "a CSV file truncated in its last record",
    "torn.zip",
    zipOf(...changeFile("food_nutrient.csv", (text) => text.slice(0, -3))),
    /food_nutrient\.csv was cut off in record 4: the quotes of field 4 are not closed/
  ],
  [
    "a CSV file truncated after a comma",
    "comma.zip",
    zipOf(...changeFile("branded_food.csv", (text) => text.slice(0, -'"2024-04-18"\n'.length))),
    /branded_food\.csv was cut off in record 4: nothing follows its last comma/
  ],
  [
    "an empty CSV release",
    "headers.zip",
    zipOf(...csvFiles({ "food.csv": "", "branded_food.csv": "", "food_nutrient.csv": "" })),
    /The release contains no valid label: it is empty/
  ],
  [
    "empty CSV files, without even a header",
    "hollow.zip",
    zipOf(...otherFiles.map((part) => ({ ...part, content: "" }))),
    /food\.csv: the file is empty: not even a header/
  ],
  [
    "a header with more columns than the rows, so that no row can be read",
    "shifted.zip",
    zipOf(...changeFile("food.csv", (text) => text.replace(',"publication_date"', ',"publication_date","extra"'))),
    /contains no valid label: all rows were rejected. For example, record 2: it has 5 instead of 6 fields/
  ],
  ["an empty JSON release", "empty.json", jsonRelease([]), /The release contains no valid label: it is empty/],
  [
    "a JSON release truncated inside its zip",
    "json.zip",
    zipOf({ path: "release.json", content: truncatedJson }),
    /json\.zip \(release\.json\), line 3: it was cut off/
  ],
  [
    "a JSON release with two records on one of its lines",
    "two.json",
    jsonRelease([recordOf(501), `${recordOf(502)}, ${recordOf(503)}`, recordOf(504)]),
    /two\.json, line 3: its records are not on one line each, as USDA publishes them\. Rewrite it: .* jq -c /
  ]
]

describe("a release that cannot be trusted", () => {
  it.each(releases)("fails the run and leaves the old generation live: %s", async (_fault, name, content, message) => {
    const { code, problems, stdout } = await load(home, writeRelease(name, content))
    expect(problems).toMatch(message)
    expect(problems).toMatch(/This run published nothing; the previous generation stays live/)
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "failed", generation: null, rows_read: null })
    await expectOldFoods(home)
  })

  it("is recorded as failed by the next run that publishes", async () => {
    const copy = copyForTest(home)
    await load(copy, writeRelease("truncated.zip", zip.subarray(0, 300)))
    const { code } = await load(copy, writeRelease("other.zip", zip))
    expect(code).toBe(0)
    const [runs] = await query(copy, "select outcome, message from ingest.run order by started_at desc limit 2")
    expect(runs).toMatchObject([
      { outcome: "published" },
      { outcome: "failed", message: expect.stringMatching(/truncated\.zip cannot be read/) }
    ])
  })
})

/** The steps that only branded foods have. `publish-together.test.ts` covers the steps of every publication. */
describe("a full disk", () => {
  let large = ""
  beforeAll(() => {
    large = writeRelease("large.zip", largeZip(1000))
  })
  const program = path.join(repository, "pipelines/bin/larder-ingest.mjs")
  /** A write beyond this many kB of a file fails, as on a full disk. */
  const loadWithLimit = (file: string, kilobytes: number) =>
    waitForExit(
      spawn(
        "bash",
        [
          "-c",
          `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$@"`,
          "bash",
          process.execPath,
          program,
          "branded-foods",
          "--json",
          "--file",
          file
        ],
        { env: { ...process.env, LARDER_HOME: home }, stdio: ["ignore", "pipe", "pipe"] }
      )
    )

  it.each([
    ["archiving the zip", 90, /The folder of payloads .*raw cannot be written: EFBIG.* The disk is full/],
    ["unpacking it", 250, /food_nutrient\.csv cannot be written: EFBIG: .* Check free space/],
    ["staging its rows", 400, /Staging failed: .*release\.duckdb.* The disk is full/s]
  ])("fails the run while %s, and leaves the old generation live", async (_step, kilobytes, message) => {
    await runStatus(home) // updates the database files that people open
    const { code, problems } = await loadWithLimit(large, kilobytes)
    expect(problems).toMatch(message)
    expect(code).toBe(1)
    await expectOldFoods(home)
    await runStatus(home)
    const [runs] = await query(home, "select outcome, message from ingest.run order by started_at desc limit 1")
    expect(runs).toEqual([{ outcome: "failed", message: expect.stringMatching(message) }])
  })

  it("fails the run while the index is built, and leaves the old generation live", async () => {
    const fullDisk = pathToFileURL(path.join(import.meta.dirname, "../contract/preload/full-disk.mjs"))
    const { code, stderr } = await run(
      "larder-ingest",
      ["branded-foods", "--json", "--file", writeRelease("other.zip", zip)],
      { LARDER_HOME: home, NODE_OPTIONS: `--import=${fullDisk}`, TEST_FULL_DISK: import.meta.filename }
    )
    expect(stderr).toMatch(/Publishing failed while writing the sidecar files: .*ENOSPC.* The disk is full/)
    expect(code).toBe(1)
    await expectOldFoods(home)
  })
})
