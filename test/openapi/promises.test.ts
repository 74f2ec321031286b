import { openApi, versions } from "@larder/schemas"
import { describe, expect, it } from "vitest"
import { broken } from "./broken.ts"
import { promised, toRecord, withoutNote } from "./promised.ts"
import { promisesOf } from "./promises.ts"

const document = openApi()

describe("the promises to clients", () => {
  it("are kept, or a note of a new version says what broke", () => {
    expect(withoutNote(broken(promised(), promisesOf(document)), promised().version, versions)).toBeUndefined()
  })

  it("are recorded as the document has them", () => {
    expect(promisesOf(document), toRecord).toEqual(promised())
  })

  it("have notes from the newest to the oldest, and a break raises the first number", () => {
    const numbers = versions.map(({ version }) => version.split(".").map(Number))
    for (const [index, { breaking, date }] of versions.entries()) {
      expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
      const [now = [], before] = [numbers[index], numbers[index + 1]]
      if (before === undefined) continue
      const raised = now.findIndex((number, place) => number !== before[place])
      expect(now[raised], "the newest comes first").toBeGreaterThan(before[raised] ?? 0)
      expect(raised === 0, "a new first number, if and only if something breaks").toBe(breaking)
      expect(date >= (versions[index + 1]?.date ?? "")).toBe(true)
    }
  })
})
