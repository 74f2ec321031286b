/** Compares the table of thresholds in docs/ingesting.md with the numbers that runs use. */
import { thresholdRows } from "@larder/pipelines/run/thresholds.ts"
import { expect, it } from "vitest"
import { readDocument } from "./documents.ts"

it("docs/ingesting.md has every threshold, with the number in the code", () => {
  const { text } = readDocument("docs/ingesting.md")
  const [, section = ""] = text.split("\n### Thresholds\n")
  const [, ...rows] = section
    .split("\n###")[0]
    ?.split("\n")
    .filter((line) => line.startsWith("|")) ?? [""]
  expect(rows.slice(1)).toEqual(thresholdRows)
})
