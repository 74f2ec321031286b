/**
 * Releases of branded foods with records that cannot be read: each is in `ingest.reject` with its line, reason and text, and
 * the others are loaded. Rows read = loaded + unchanged + rejected.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import {
  amountLine,
  brandedLine,
  csvFiles,
  foodLine,
  jsonRelease,
  line,
  recordOf
} from "../support/pipelines/small-releases.ts"
import { makeTestFolder, parseRunRecord, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn, listLeftovers, load } from "./small-releases.ts"

interface Reject {
  readonly feed: string
  readonly position: number
  readonly reason: string
  readonly payload: string
}

const readRejects = async (home: string): Promise<ReadonlyArray<Reject>> => {
  const [rows = []] = await query(
    home,
    "select feed, position::integer as position, reason, payload from ingest.reject order by feed, position, reason"
  )
  return rows.map(({ feed, payload, position, reason }) => ({
    feed: String(feed),
    position: Number(position),
    reason: String(reason),
    payload: String(payload)
  }))
}

const loadRelease = async (home: string, name: string, content: Buffer) => {
  const file = path.join(home, name)
  writeFileSync(file, content)
  const end = await load(home, file)
  if (end.code !== 4) throw new Error(`exit code ${end.code}: ${end.stderr}`) // too much of it is rejected
  const run = parseRunRecord(end)
  expect(Number(run.rows_loaded) + Number(run.rows_unchanged) + Number(run.rows_rejected)).toBe(run.rows_read)
  expect(listLeftovers(home)).toEqual([])
  return { run, stderr: end.stderr }
}

const latin1 = (text: string) => Buffer.from(text, "latin1")

describe("a CSV release with broken lines", () => {
  /** The lines of food.csv below its header, from line 2, and why a line is rejected; undefined if it is valid. */
  const lines: ReadonlyArray<readonly [text: string | Buffer, reason?: RegExp]> = [
    [foodLine(101)],
    [foodLine(102, 'QUOTED 6"" SUB\nON TWO LINES')],
    ["<html>unparsable</html>\n", /it has 1 instead of 5 fields/],
    ["\n"],
    [foodLine(103)],
    [line(104, "branded_food", "TOO FEW"), /it has 3 instead of 5 fields/],
    [line(105, "branded_food", "TOO MANY", "", "2024-04-18", "more"), /it has 6 instead of 5 fields/],
    ['"106","branded_food","5" PIPE","","2024-04-18"\n', /text follows the quotes of field 3/],
    ['107,branded_food,5" PIPE,,2024-04-18\n', /a quote is inside field 3/],
    ['"108","branded_food","OPEN,"","2024-04-18"\n', /text follows the quotes of field/],
    [latin1('"109","branded_food","CR\xc8ME","","2024-04-18"\n'), /not valid UTF-8/],
    [foodLine(110, "x".repeat(2_000_000)), /longer than 2000000 bytes/],
    [line("12a", "branded_food", "NO NUMBER", "", "2024-04-18"), /fdc_id is "12a", which is not a whole number/],
    [line("", "branded_food", "NO ID", "", "2024-04-18"), /fdc_id is "", which is not a whole number/],
    [line("-5", "branded_food", "BELOW 0", "", "2024-04-18"), /fdc_id is "-5", which is not a whole number/],
    [line("101.6", "branded_food", "NEARLY 102", "", "2024-04-18"), /fdc_id is "101\.6", which is not a whole number/],
    [
      line("99999999999", "branded_food", "TOO LARGE", "", "2024-04-18"),
      /fdc_id is "99999999999", which is not a whole/
    ],
    [foodLine(101, "TWICE"), /duplicate fdc_id 101 \(first seen in an earlier row\)/],
    [foodLine(111, "NO DAY", "13/11/2020"), /publication_date in food\.csv is "13\/11\/2020", which is not a day/],
    [foodLine(112, ""), /description in food\.csv is empty/],
    [line(113, "foundation_food", "NOT BRANDED", "", "2024-04-18")],
    [foodLine(114)],
    [foodLine(115)],
    [foodLine(116)]
  ]
  let home = ""
  let rejects: ReadonlyArray<Reject> = []
  let result: Awaited<ReturnType<typeof loadRelease>>
  const rejectsOf = (file: string) => rejects.filter(({ feed }) => feed === `gov-fdc/csv/${file}`)

  beforeAll(async () => {
    home = temporaryFolder()
    const files = csvFiles({
      "food.csv": Buffer.concat(lines.map(([text]) => Buffer.from(text))),
      "branded_food.csv": [
        ...[101, 102, 103, 111, 112].map((id) => brandedLine(id)),
        brandedLine(101, { ingredients: "TWICE" }),
        brandedLine(114, { serving_size: "thirty" }),
        brandedLine(115, { modified_date: "2020-13-11" }),
        brandedLine(116, { ingredients: "SALT\nWATER" }),
        brandedLine(999)
      ].join(""),
      "food_nutrient.csv": [
        amountLine(1, 101),
        amountLine(2, 102, "protein"),
        amountLine(3, 103, 1003, "a trace"),
        amountLine(4, 888),
        amountLine(5, 111),
        amountLine(6, 116),
        amountLine(7, 113)
      ].join("")
    })
    result = await loadRelease(home, "release.zip", zipOf(...files))
    rejects = await readRejects(home)
  })
  afterAll(() => removeFolder(home))

  it("loads the other labels, including those that span two lines or follow a broken line", async () => {
    expect(await foodsIn(home)).toEqual([101, 102, 103, 115, 116])
    const [foods] = await query(
      home,
      "select fdc_id, description, ingredients from branded_food.food where fdc_id in (102, 116) order by fdc_id"
    )
    expect(foods).toMatchObject([{ description: 'QUOTED 6" SUB ON TWO LINES' }, { ingredients: "SALT WATER" }])
  })

  it("reports each rejected line of food.csv by its number", () => {
    const expected = lines.flatMap(([, reason], index) => (reason === undefined ? [] : [index + 2]))
    const lineRejects = rejectsOf("food.csv").filter(({ reason }) => !/^its label was rejected/.test(reason))
    const labelPosition = lines.findIndex(([text]) => String(text) === foodLine(114)) + 2
    expect(rejectsOf("food.csv").map(({ position }) => position)).toEqual(
      [...expected, labelPosition].sort((a, b) => a - b)
    )
    expect(lineRejects.length).toBeGreaterThan(10)
  })

  it.each(
    lines.flatMap(([text, reason], index) =>
      reason === undefined ? [] : [[String(text).slice(0, 50), index + 2, reason] as const]
    )
  )("reports the reason and the text of a broken line: %j", (text, position, reason) => {
    const found = rejectsOf("food.csv").find((reject) => reject.position === position)
    expect(found?.reason).toMatch(reason)
    const id = /^"?([^",\n]*)/.exec(text)?.[1] ?? ""
    expect(found?.payload).toContain(id)
    expect(found?.payload.length).toBeLessThanOrEqual(100_000)
  })

  it("reports bad numbers, bad days, rows without a label and rejected labels of the other files", () => {
    const formatRejects = (file: string) => rejectsOf(file).map(({ position, reason }) => `${position}: ${reason}`)
    expect(formatRejects("branded_food.csv")).toEqual([
      expect.stringMatching(/^5: its label was rejected: publication_date in food\.csv is "13\/11\/2020"/),
      expect.stringMatching(/^6: its label was rejected: description in food\.csv is empty/),
      expect.stringMatching(/^7: duplicate fdc_id 101 \(first seen in an earlier row\)/),
      expect.stringMatching(
        /^8: its label was rejected: serving_size in branded_food\.csv is "thirty", which is not a size/
      ),
      expect.stringMatching(/^11: .*food\.csv has no readable row with th/)
    ])
    expect(formatRejects("food_nutrient.csv")).toEqual([
      expect.stringMatching(/^3: nutrient_id is "protein", which is not a whole number/),
      expect.stringMatching(/^4: amount is "a trace", which is not a number/),
      expect.stringMatching(/^5: food\.csv has no readable row with the fdc_id 888/),
      expect.stringMatching(/^6: its label was rejected/)
    ])
  })

  it("counts each line except a blank one as loaded, unchanged or rejected", () => {
    expect(result.run.rows_read).toBe(lines.length - 1 + 10 + 7)
    expect(result.run.rows_rejected).toBe(rejects.length)
    expect(result.run.rows_unchanged).toBe(2) // food and amount of another kind of food
  })

  it("is left out in part: each label counts once, and each record of food.csv without a readable id", () => {
    // 22 records of food.csv without the blank line and 113, which is no branded food; 101 has two of them; 999
    expect(result.run.left_out).toEqual([
      {
        feed: "gov-fdc/csv",
        kind: "partial",
        reason: expect.stringMatching(
          /^20 of 22 labels were rejected \(90\.9 %\), most often because fdc_id is "12a", which is not a whole number\.$/
        ),
        is_known: false
      }
    ])
  })

  it("warns about rejected rows, and names food.csv and the first of them", () => {
    expect(result.stderr).toMatch(/rows rejected.*food\.csv.*"first":"record 4: it has 1 instead of 5 fields"/)
  })
})

describe("a CSV record with an empty field after its last column", () => {
  it("is rejected, although DuckDB ignores such a field and all others are readable", async () => {
    const home = makeTestFolder()
    const ids = [121, 122, 123]
    const shifted = brandedLine(122).replace('"OWNER",', ',"OWNER",').replace('"2024-04-18"\n', '""\n')
    const files = csvFiles({
      "food.csv": ids.map((id) => foodLine(id)).join(""),
      "branded_food.csv": [brandedLine(121), shifted, brandedLine(123)].join(""),
      "food_nutrient.csv": ids.map((id) => amountLine(id, id)).join("")
    })
    const file = path.join(home, "release.zip")
    writeFileSync(file, zipOf(...files))
    expect((await load(home, file)).code).toBe(0) // one label is not left out in part
    expect(await readRejects(home)).toEqual([
      {
        feed: "gov-fdc/csv/branded_food.csv",
        position: 3,
        reason: "it has 12 instead of 11 fields",
        payload: shifted.trimEnd()
      }
    ])
    const [brands] = await query(home, "select distinct brand_owner from branded_food.food order by all")
    expect(brands).toEqual([{ brand_owner: "OWNER" }, { brand_owner: null }])
  })
})

describe("a JSON release with broken records", () => {
  const lines: ReadonlyArray<readonly [text: string | Buffer, reason?: RegExp]> = [
    [recordOf(201)],
    ["<html>unparsable</html>", /the line does not begin with \{/],
    [recordOf(202)],
    ['{"fdcId":203,"description":"NO JSON",,}', /the record is not JSON/],
    ['{"fdcId":204,"description":"CUT', /does not end on its line/],
    [latin1(recordOf(205, { description: "CR\xc8ME" })), /not valid UTF-8/],
    [recordOf(206, { ingredients: "x".repeat(1 << 24) }), /longer than 16777216 bytes/],
    [recordOf(207, { fdcId: undefined }), /fdcId is missing/],
    [recordOf(208, { fdcId: "12a" }), /fdcId is "12a", which is not a whole number/],
    [recordOf(209, { description: undefined }), /description is empty/],
    [recordOf(210, { description: "  " }), /description is empty/],
    [recordOf(211, { publicationDate: "13/11/2020" }), /publicationDate is "13\/11\/2020", which is not a day/],
    [recordOf(212, { servingSize: "thirty" }), /servingSize is "thirty", which is not a size/],
    [recordOf(213, { foodNutrients: [{ amount: 3 }] }), /^foodNutrients\[0\]\.nutrient\.id is missing$/],
    [recordOf(214, { foodNutrients: "none" }), /foodNutrients is not a list/],
    [recordOf(201, { description: "TWICE" }), /duplicate fdcId 201 \(first seen in an earlier line\)/],
    ["[1, 2]", /the line does not begin with \{/],
    [recordOf(216, { fdcId: -5 }), /fdcId is "-5", which is not a whole number/],
    [recordOf(217, { fdcId: 217.5 }), /fdcId is "217\.5", which is not a whole number/],
    [
      recordOf(218, { foodNutrients: [{ nutrient: { id: 600_000 }, amount: 1 }] }),
      /id is "600000", which is not the id of a nutrient/
    ],
    [
      recordOf(219, { foodNutrients: [{ nutrient: { id: -1 }, amount: 1 }] }),
      /id is "-1", which is not the id of a nutrient/
    ],
    [
      recordOf(223, { foodNutrients: [{ nutrient: { id: 1003 }, amount: "3 g" }] }),
      /^foodNutrients\[0\]\.amount is "3 g", which is/
    ],
    [recordOf(224, { foodNutrients: ["3 g"] }), /^foodNutrients\[0\] is not an object$/],
    [
      recordOf(225, { labelNutrients: { fat: { value: "3 g" } } }),
      /^labelNutrients\.fat is "3 g", which is not a number$/
    ],
    [recordOf(220).replace("{", '{"description":"FIRST",'), /duplicate key/i],
    [recordOf(215)]
  ]
  /** Labels of which only an amount is rejected. */
  const torn = [213, 218, 219, 223, 224, 225]
  let home = ""
  let rejects: ReadonlyArray<Reject> = []
  let result: Awaited<ReturnType<typeof loadRelease>>

  beforeAll(async () => {
    home = temporaryFolder()
    result = await loadRelease(home, "release.json", jsonRelease(lines.map(([text]) => text)))
    rejects = await readRejects(home)
  })
  afterAll(() => removeFolder(home))

  it("loads the other records", async () => {
    expect(await foodsIn(home)).toEqual([201, 202, ...torn, 215].sort((a, b) => a - b))
  })

  it("flags labels of which an amount was rejected, and none of them as one without nutrients", async () => {
    const [rows] = await query(
      home,
      `select flag, list(fdc_id order by fdc_id) as labels from branded_food.quality_flag
       where flag in ('part_rejected', 'no_nutrients') group by flag`
    )
    expect(rows).toEqual([{ flag: "part_rejected", labels: torn }])
  })

  it.each(
    lines.flatMap(([text, reason], index) =>
      reason === undefined ? [] : [[String(text).slice(0, 60), index + 2, reason] as const]
    )
  )("reports the line, the reason and the text of a broken record: %j", (text, position, reason) => {
    const found = rejects.filter((reject) => reject.position === position)
    expect(found.map((reject) => reject.reason)).toEqual([expect.stringMatching(reason)])
    expect(found[0]?.payload).toContain(/\d+|\w+/.exec(text)?.[0] ?? "")
    expect(found[0]?.payload.length).toBeLessThanOrEqual(100_000)
  })

  it("is left out in part, with the share and the commonest reason", () => {
    expect(result.run.left_out).toMatchObject([
      { feed: "gov-fdc/json", kind: "partial", reason: expect.stringMatching(/^23 of 25 labels were rejected/) }
    ])
  })

  it("counts each record as loaded or rejected, and each rejected amount in addition to its record", () => {
    const feeds = rejects.map(({ feed }) => feed)
    expect(feeds.filter((feed) => feed === "gov-fdc/json/foodNutrients")).toHaveLength(torn.length - 1)
    expect(feeds.filter((feed) => feed === "gov-fdc/json/labelNutrients")).toHaveLength(1)
    expect(result.run).toMatchObject({
      rows_read: lines.length + torn.length,
      rows_loaded: 3 + torn.length,
      rows_rejected: lines.length - 3
    })
  })
})

describe("a record with the id of an earlier one", () => {
  it("is rejected with its line number, even in another chunk of the JSON form", async () => {
    const home = makeTestFolder()
    const broken = Array.from({ length: 1000 }, () => "x") // with this many rejects, a chunk ends after the piece
    const longer = recordOf(302, { padding: "x".repeat(600_000) }) // longer than a piece of 256 KiB
    const lines = [recordOf(301), ...broken, longer, recordOf(301, { description: "TWICE" })]
    await loadRelease(home, "release.json", jsonRelease(lines))
    expect(await foodsIn(home)).toEqual([301, 302])
    const last = (await readRejects(home)).at(-1)
    expect(last).toMatchObject({ position: 1004, reason: "duplicate fdcId 301 (first seen in an earlier line)" })
  })
})
