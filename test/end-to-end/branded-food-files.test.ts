/**
 * Files of branded foods as other tools leave them: with columns without a name, rows that they have twice, NULs, other
 * names, or counts with separators. Each is read for what it is, or its fault is named.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { type Part, zipOf } from "../support/pipelines/handmade-zips.ts"
import {
  amountLine,
  brandedLine,
  csvFiles,
  foodLine,
  goodFiles,
  jsonRelease,
  recordOf
} from "../support/pipelines/small-releases.ts"
import { run } from "../support/programs.ts"
import { makeTestFolder, parseRunRecord, query } from "./ingesting.ts"
import { foodsIn, load } from "./small-releases.ts"

const change = (parts: ReadonlyArray<Part>, change: (text: string, name: string) => string) =>
  parts.map((part) => ({ ...part, content: change(part.content.toString(), part.path) }))

const changeFile = (name: string, text: (text: string) => string) =>
  change(goodFiles(), (content, file) => (file === name ? text(content) : content))

const loadZip = (home: string, name: string, parts: ReadonlyArray<Part>) => {
  const file = path.join(home, name)
  writeFileSync(file, zipOf(...parts))
  return load(home, file)
}

const loadFolder = (home: string, name: string, parts: ReadonlyArray<Part>) => {
  const folder = path.join(home, name)
  mkdirSync(folder)
  for (const part of parts) writeFileSync(path.join(folder, part.path), part.content)
  return load(home, folder)
}

const readNutrients = async (home: string) => {
  const [rows = []] = await query(
    home,
    "select fdc_id, len(nutrients)::integer as nutrients from branded_food.food order by fdc_id"
  )
  return rows.map(({ fdc_id, nutrients }) => `${fdc_id}: ${nutrients}`)
}

describe("a column without a name", () => {
  const lines = (text: string) => text.trimEnd().split("\n")
  const join = (changed: ReadonlyArray<string>) => `${changed.join("\n")}\n`
  it.each([
    [
      "is the first of each file, as pandas writes it",
      (text: string) => join(lines(text).map((line, n) => `${n === 0 ? "" : n - 1},${line}`))
    ],
    ["follows a comma at the end of each line", (text: string) => join(lines(text).map((line) => `${line},`))],
    [
      "follows a comma at the end, and the last line has no line feed",
      (text: string) => join(lines(text).map((line) => `${line},`)).trimEnd()
    ],
    ["is one of two", (text: string) => join(lines(text).map((line) => `${line},"",""`))]
  ])("is ignored with a warning: it %s", async (_name, addColumn) => {
    const home = makeTestFolder()
    const end = await loadZip(home, "release.zip", change(goodFiles(), addColumn))
    expect([end.code, parseRunRecord(end)]).toMatchObject([0, { rows_read: 9, rows_rejected: 0, left_out: [] }])
    expect(end.stderr).toMatch(/columns without a name are ignored/)
    expect(await readNutrients(home)).toEqual(["1: 1", "2: 1", "3: 1"])
    const [unknown] = await query(home, "select field from ingest.unknown_field")
    expect(unknown).toEqual([])
  })
})

describe("a form that DuckDB cannot load for another reason", () => {
  it("is left out, and the other one is published", async () => {
    const home = makeTestFolder()
    const folder = path.join(home, "replay/fdc.nal.usda.gov/fdc-datasets")
    mkdirSync(folder, { recursive: true })
    const release = (form: string) => path.join(folder, `FoodData_Central_branded_food_${form}_2025-12-18.zip`)
    const json = jsonRelease([recordOf(1), recordOf(2)])
    writeFileSync(release("json"), zipOf({ path: "brandedDownload.json", content: json }))
    // a NUL ends a statement of SQL, and the names of columns are part of one
    const csv = changeFile("food.csv", (text) => text.replace("\n", ',"no\0te"\n').replaceAll('18"\n', '18",""\n'))
    writeFileSync(release("csv"), zipOf(...csv))
    const replay = ["branded-foods", "--replay", path.join(home, "replay"), "--json"]
    const end = await run("larder-ingest", replay, { LARDER_HOME: home })
    expect([end.code, parseRunRecord(end)]).toMatchObject([
      4,
      {
        outcome: "partial",
        left_out: [
          {
            feed: "gov-fdc/csv",
            kind: "untrusted",
            reason: expect.stringMatching(/^DuckDB cannot load this form: Parser Error/)
          }
        ]
      }
    ])
    expect(await foodsIn(home)).toEqual([1, 2])
  })
})

describe("a row that food_nutrient.csv has twice", () => {
  it("is read once, with a warning, and costs no label", async () => {
    const home = makeTestFolder()
    const files = csvFiles({
      "food.csv": foodLine(1),
      "branded_food.csv": brandedLine(1),
      "food_nutrient.csv": amountLine(7, 1) + amountLine(8, 1, 1004) + amountLine(7, 1) + amountLine(9, 1, 1005, "x")
    })
    const end = await loadZip(home, "release.zip", files)
    expect([end.code, parseRunRecord(end)]).toMatchObject([0, { rows_read: 5, rows_rejected: 1 }])
    expect(end.stderr).toMatch(/rows that repeat an earlier row are read once/)
    const [rejects] = await query(home, "select position::integer as position from ingest.reject")
    expect(rejects).toEqual([{ position: 5 }])
    expect(await readNutrients(home)).toEqual(["1: 2"])
  })
})

describe("a release whose files have all rows twice", () => {
  it("is read once, without a reject", async () => {
    const home = makeTestFolder()
    const twice = change(goodFiles(), (text) => text + text.split("\n").slice(1).join("\n"))
    const end = await loadZip(home, "release.zip", twice)
    expect([end.code, parseRunRecord(end)]).toMatchObject([0, { rows_read: 9, rows_rejected: 0 }])
    expect(await readNutrients(home)).toEqual(["1: 1", "2: 1", "3: 1"])
  })
})

describe("a CSV file with a comma at the end of its lines, but not of its header", () => {
  it("is named as such", async () => {
    const commas = changeFile("food.csv", (text) => text.replaceAll('18"\n', '18",\n'))
    const { code, problems } = await loadZip(makeTestFolder(), "release.zip", commas)
    expect(code).toBe(1)
    expect(problems).toMatch(/all rows were rejected.*it has 6 instead of 5 fields, because it ends with a comma/)
  })
})

describe("the date of a release", () => {
  const name = "FoodData_Central_branded_food_csv"
  const release = (day: string, amount: string) =>
    changeFile("food_nutrient.csv", (text) => text.replaceAll("3.5", amount)).map((part) => ({
      ...part,
      path: `${name}_${day}/${part.path}`
    }))
  const readAmounts = async (home: string) => {
    const [rows = []] = await query(
      home,
      "select distinct release_on::varchar as day, nutrients[1].amount::double as amount from branded_food.food"
    )
    return rows.map(({ amount, day }) => `${day}: ${amount}`)
  }

  it.each(["usda.zip", `${name}_2025-12-18 (1).zip`, "usda 2026-11-30.zip"])(
    "comes from its members if its file is called %s, so an older release does not replace it",
    async (file) => {
      const home = makeTestFolder()
      const renamed = await loadZip(home, file, release("2025-12-18", "3.5"))
      expect(renamed.stderr).not.toMatch(/undated/)
      await loadZip(home, `${name}_2023-10-26.zip`, release("2023-10-26", "9.5"))
      expect(await readAmounts(home)).toEqual(["2025-12-18: 3.5"])
    }
  )

  it("is missing with a warning if no name has it, and then it replaces no dated release", async () => {
    const home = makeTestFolder()
    await loadZip(home, `${name}_2023-10-26.zip`, release("2023-10-26", "9.5"))
    const { code, stderr } = await loadFolder(home, "download", goodFiles())
    expect([code, stderr]).toMatchObject([0, expect.stringMatching(/the release is undated/)])
    expect(await readAmounts(home)).toEqual(["2023-10-26: 9.5"])
  })
})

describe("the counts that a release declares", () => {
  const withCounts = (count: string) => [
    ...goodFiles(),
    {
      path: "all_downloaded_table_record_counts.csv",
      content: `"Table","Number of Records"\n"branded_food","${count}"\n`
    }
  ]
  it("are compared if they have separators of thousands", async () => {
    const { code, problems } = await loadFolder(makeTestFolder(), "csv", withCounts("1,993,975"))
    expect(code).toBe(1)
    expect(problems).toMatch(/food\.csv has 3 records, .* declares 1993975 for branded_food\.csv/)
  })
  it("are named if they are not understood", async () => {
    const { code, stderr } = await loadFolder(makeTestFolder(), "csv", withCounts("two million"))
    expect(code).toBe(0)
    expect(stderr).toMatch(/declared record counts are not understood.*two million/s)
  })
})

describe("a NUL in a text", () => {
  it("is a blank, in both forms", async () => {
    const [home, otherHome] = [makeTestFolder(), makeTestFolder()]
    const csv = changeFile("branded_food.csv", (text) => text.replace("OWNER", "OWN\0ER\0"))
    const json = jsonRelease([
      recordOf(1, { brandOwner: "OWN\0ER\0", foodAttributes: [{ id: 1, name: "No\0te", value: "1" }] }),
      recordOf(2, { brandOwner: "OWNER" })
    ])
    writeFileSync(path.join(otherHome, "labels.json"), json)
    expect((await loadZip(home, "release.zip", csv)).code).toBe(0)
    expect((await load(otherHome, path.join(otherHome, "labels.json"))).code).toBe(0)
    for (const loaded of [home, otherHome]) {
      const [rows] = await query(loaded, "select brand_owner from branded_food.food where fdc_id < 3 order by fdc_id")
      expect(rows).toEqual([{ brand_owner: "OWN ER" }, { brand_owner: "OWNER" }])
    }
    const [attributes] = await query(
      otherHome,
      "select attributes[1].name as name from branded_food.food where fdc_id = 1"
    )
    expect(attributes).toEqual([{ name: "No te" }])
  })
})
