import { describe, expect, it } from "vitest"
import { makeSentForms } from "./sent-forms.ts"

const form = (submission: string) => ["acc_1", submission, { name: "Shop" }]

describe("a form that was sent", () => {
  it("is not sent for the first time again, until ten minutes later", () => {
    const sent = makeSentForms()
    expect(sent.first(form("a"), 0)).toBeDefined()
    expect(sent.first(form("a"), 599_999)).toBeUndefined()
    expect(sent.first(form("a"), 600_000)).toBeDefined()
  })

  it("is another one where its text, its account or what stands in it is another", () => {
    const sent = makeSentForms()
    const all = [form("a"), form("b"), ["acc_2", "a", { name: "Shop" }], ["acc_1", "a", { name: "Stall" }]]
    for (const one of all) expect(sent.first(one, 0)).toBeDefined()
  })

  it("may be sent again once that is taken back", () => {
    const sent = makeSentForms()
    sent.first(form("a"), 0)?.takeBack()
    expect(sent.first(form("a"), 1)).toBeDefined()
  })

  it("is forgotten for the sake of memory after 10,000 others", () => {
    const sent = makeSentForms()
    for (let index = 0; index < 10_000; index++) sent.first(form(`${index}`), index)
    expect(sent.first(form("0"), 10_000)).toBeUndefined()
    sent.first(form("one more"), 10_000)
    expect(sent.first(form("1"), 10_000)).toBeUndefined()
    expect(sent.first(form("0"), 10_000)).toBeDefined()
  })
})
