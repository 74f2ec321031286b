/** Releases of branded foods of which many labels are rejected: the form is left out in part, and known rejects cost no exit code. */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import {
  amountLine,
  brandedLine,
  csvFiles,
  foodLine,
  jsonRelease,
  recordOf
} from "../support/pipelines/small-releases.ts"
import { makeTestFolder, query } from "./ingesting.ts"
import { foodsIn, load } from "./small-releases.ts"

describe("a release of which labels are rejected", () => {
  /** Good labels, and labels with an amount that cannot be read. */
  const writeRelease = (home: string, day: string, bad: number, amount = "3.5 g", withProtein = 40) => {
    const ids = Array.from({ length: 40 }, (_, index) => 501 + index)
    const files = csvFiles({
      "food.csv": ids.map((id) => foodLine(id)).join(""),
      "branded_food.csv": ids.map((id) => brandedLine(id, id === 540 ? { ingredients: day } : {})).join(""),
      "food_nutrient.csv": ids
        .flatMap((id, index) => [
          index < withProtein ? amountLine(id, id) : "",
          amountLine(id + 1000, id, 1004, index < bad ? amount : "3.5")
        ])
        .join("")
    })
    const file = path.join(home, `FoodData_Central_branded_food_csv_${day}.zip`)
    writeFileSync(file, zipOf(...files))
    return file
  }
  const leftOutOf = (end: Awaited<ReturnType<typeof load>>) => JSON.parse(end.stdout).left_out
  const reason = '2 of 40 labels were rejected (5.0 %), most often because amount is "3.5 g", which is not a number.'

  it("exits with 4, and with 0 if an earlier release had the same rejects", async () => {
    const home = makeTestFolder()
    const first = await load(home, writeRelease(home, "2026-01-01", 2))
    expect([first.code, leftOutOf(first)]).toEqual([
      4,
      [{ feed: "gov-fdc/csv", kind: "partial", reason, is_known: false }]
    ])
    const same = await load(home, writeRelease(home, "2026-01-01", 2))
    expect([same.code, leftOutOf(same)]).toEqual([0, []])
    const second = await load(home, writeRelease(home, "2026-02-01", 2))
    expect([second.code, leftOutOf(second)], second.stderr).toEqual([
      0,
      [{ feed: "gov-fdc/csv", kind: "partial", reason, is_known: true }]
    ])
    const third = await load(home, writeRelease(home, "2026-03-01", 2, "3.6 g"))
    expect([third.code, leftOutOf(third)]).toMatchObject([4, [{ kind: "partial", is_known: false }]])
    const [leftOut] = await query(home, "select feed, kind, reason from ingest.left_out order by run_id limit 1")
    expect(leftOut).toEqual([{ feed: "gov-fdc/csv", kind: "partial", reason }])
    expect(await foodsIn(home)).toHaveLength(40)
  })

  it("exits with 0 if an earlier release had the same rejected records in other lines of its JSON form", async () => {
    const home = makeTestFolder()
    const good = Array.from({ length: 40 }, (_, index) => recordOf(701 + index))
    const bad = [recordOf(751, { description: " " }), recordOf(752, { servingSize: "thirty" })]
    const loadLines = async (day: string, lines: ReadonlyArray<string>) => {
      const file = path.join(home, `FoodData_Central_branded_food_json_${day}.json`)
      writeFileSync(file, jsonRelease(lines))
      const end = await load(home, file)
      return [end.code, leftOutOf(end)]
    }
    const partial = (is_known: boolean) => [{ feed: "gov-fdc/json", kind: "partial", is_known }]
    expect(await loadLines("2026-01-01", [...bad, ...good])).toMatchObject([4, partial(false)])
    expect(await loadLines("2026-02-01", [recordOf(753), ...bad, ...good])).toMatchObject([0, partial(true)])
  })

  it("names the share even if a check then fails: labels would lose nutrients", async () => {
    const home = makeTestFolder()
    expect((await load(home, writeRelease(home, "2026-01-01", 0))).code).toBe(0)
    const { code, stderr } = await load(home, writeRelease(home, "2026-02-01", 5, "3.5 g", 30))
    expect(code).toBe(3)
    expect(stderr).toMatch(/a release form is left out in part.*5 of 40 labels were rejected/)
  })

  it("is not left out in part for a single label", async () => {
    const home = makeTestFolder()
    const end = await load(home, writeRelease(home, "2026-01-01", 1))
    expect([end.code, leftOutOf(end)]).toEqual([0, []])
  })

  it("keeps the earlier labels if most of its records lack the nutrients' ids", async () => {
    const home = makeTestFolder()
    const writeJson = (day: string, change: (index: number) => Readonly<Record<string, unknown>>) => {
      const file = path.join(home, `FoodData_Central_branded_food_json_${day}.json`)
      writeFileSync(file, jsonRelease(Array.from({ length: 30 }, (_, index) => recordOf(601 + index, change(index)))))
      return file
    }
    expect(
      (
        await load(
          home,
          writeJson("2026-01-01", () => ({}))
        )
      ).code
    ).toBe(0)
    const bare = (index: number) => (index < 3 ? {} : { foodNutrients: [{ id: 1, amount: 3.5 }] })
    const end = await load(home, writeJson("2026-02-01", bare))
    expect([end.code, leftOutOf(end)]).toMatchObject([
      4,
      [
        {
          kind: "partial",
          reason: expect.stringMatching(/^27 of 30 labels were rejected \(90\.0 %\).*nutrient\.id is missing/)
        }
      ]
    ])
    const [rows] = await query(home, "select sum(len(nutrients))::integer as amounts from branded_food.food")
    expect(rows).toEqual([{ amounts: 30 }])
  })
})
