import { assert, describe, it } from "@effect/vitest"
import { releaseDay } from "./release-day.ts"

const csv = "FoodData_Central_branded_food_csv"

describe("the day of a release", () => {
  it.each([
    ["a file", `https://fdc.nal.usda.gov/fdc-datasets/${csv}_2025-12-18.zip`, "2025-12-18"],
    ["a copy of a file", `file:${csv}_2025-12-18%20(1).zip`, "2025-12-18"],
    ["a folder", `file:${csv}_2025-12-18/food.csv`, "2025-12-18"],
    ["a file with another name", "file:usda%202025-12-18.zip", "2025-12-18"],
    ["no file", "file:usda.zip", null],
    ["a day that does not exist", "file:usda%202025-13-18.zip", null],
    ["a number with more digits", "file:usda12025-12-180.zip", null],
    ["a folder above the one with the files", "file:2025-12-18/csv/food.csv", null]
  ])("is that in the name: %s", (_name, address, expected) => {
    assert.strictEqual(releaseDay(address), expected)
  })

  it.each([
    ["its folder, if the zip was renamed", "file:usda.zip", [`${csv}_2025-12-18/food.csv`], "2025-12-18"],
    ["its own name", "file:usda.zip", ["FoodData_Central_branded_food_json_2025-12-18.json"], "2025-12-18"],
    [
      "its folder, rather than the day of a download",
      "file:usda%202026-01-05.zip",
      [`${csv}_2025-12-18/food.csv`],
      "2025-12-18"
    ],
    ["another folder", "file:usda.zip", ["usda 2025-12-18/food.csv"], "2025-12-18"],
    [
      "the earliest of several",
      "file:usda.zip",
      [`${csv}_2025-12-18/food.csv`, `${csv}_2023-10-26/nutrient.csv`],
      "2023-10-26"
    ],
    [
      "the usual name, rather than a folder around it",
      "file:usda.zip",
      [`2020-01-01/${csv}_2025-12-18/food.csv`],
      "2025-12-18"
    ]
  ])("is that of a member: %s", (_name, address, members, expected) => {
    assert.strictEqual(releaseDay(address, members), expected)
  })

  it("is that in the usual name of the zip, whatever its members are called", () => {
    assert.strictEqual(releaseDay(`file:${csv}_2025-12-18.zip`, [`${csv}_2023-10-26/food.csv`]), "2025-12-18")
  })
})
