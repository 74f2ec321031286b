import { openApi } from "@larder/schemas"
import { versions } from "@larder/schemas/openapi/versions.ts"
import { describe, expect, it } from "vitest"
import { findBreaks } from "./breaks.ts"
import { explainBreaks, readPromised, recordAdvice } from "./promised.ts"
import { readPromises } from "./promises.ts"

const promises = readPromises(openApi())
const promised = readPromised()

describe("the promises to clients", () => {
  it("are kept, or a note of a new version announces the break", () => {
    expect(explainBreaks(findBreaks(promised, promises), promised.version, versions)).toBeUndefined()
  })

  it("are recorded as they are in the document", () => {
    expect(promises, recordAdvice).toEqual(promised)
  })
})

describe("the version notes", () => {
  it("are sorted from the newest to the oldest, and only a break raises the major version", () => {
    const numbers = versions.map(({ version }) => version.split(".").map(Number))
    for (const [index, { breaking, date }] of versions.entries()) {
      expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
      const [now = [], before] = [numbers[index], numbers[index + 1]]
      if (before === undefined) continue
      const raised = now.findIndex((number, position) => number !== before[position])
      expect(now[raised], "the newest comes first").toBeGreaterThan(before[raised] ?? 0)
      expect(raised === 0, "a new major version, if and only if something breaks").toBe(breaking)
      expect(date >= (versions[index + 1]?.date ?? "")).toBe(true)
    }
  })
})
