import { describe, expect, it } from "vitest"
import { makeSentForms } from "./sent-forms.ts"

const form = (submission: string) => ["acc_1", submission, { name: "Shop" }]

describe("a form that was sent", () => {
  it("counts as a repetition for ten minutes", () => {
    const sent = makeSentForms()
    expect(sent.first(form("a"), 0)).toBeDefined()
    expect(sent.first(form("a"), 599_999)).toBeUndefined()
    expect(sent.first(form("a"), 600_000)).toBeDefined()
  })

  it("counts as new when its submission, account or content differs", () => {
    const sent = makeSentForms()
    const all = [form("a"), form("b"), ["acc_2", "a", { name: "Shop" }], ["acc_1", "a", { name: "Stall" }]]
    for (const one of all) expect(sent.first(one, 0)).toBeDefined()
  })

  it("may be sent again after it was taken back", () => {
    const sent = makeSentForms()
    sent.first(form("a"), 0)?.takeBack()
    expect(sent.first(form("a"), 1)).toBeDefined()
  })

  it("is forgotten after 10,000 other forms, to limit memory", () => {
    const sent = makeSentForms()
    for (let index = 0; index < 10_000; index++) sent.first(form(`${index}`), index)
    expect(sent.first(form("0"), 10_000)).toBeUndefined()
    sent.first(form("one more"), 10_000)
    expect(sent.first(form("1"), 10_000)).toBeUndefined()
    expect(sent.first(form("0"), 10_000)).toBeDefined()
  })
})
