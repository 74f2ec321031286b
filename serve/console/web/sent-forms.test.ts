import { describe, expect, it } from "vitest"
import { makeForm } from "./form.ts"
import { makeSentForms } from "./sent-forms.ts"

const content = { name: "Shop" }
const form = (submission: string, now: number, id = "acc_1") => ({
  account: { id },
  form: makeForm(new URLSearchParams({ submission })),
  now
})

describe("a form that was sent", () => {
  it("counts as a repetition for ten minutes", () => {
    const sent = makeSentForms()
    expect(sent.recordFirst(form("a", 0), content)).toBeDefined()
    expect(sent.recordFirst(form("a", 599_999), content)).toBeUndefined()
    expect(sent.recordFirst(form("a", 600_000), content)).toBeDefined()
  })

  it("counts as new if its random text, account or content differs, or if it has no random text", () => {
    const sent = makeSentForms()
    expect(sent.recordFirst(form("a", 0), content)).toBeDefined()
    expect(sent.recordFirst(form("b", 0), content)).toBeDefined()
    expect(sent.recordFirst(form("a", 0, "acc_2"), content)).toBeDefined()
    expect(sent.recordFirst(form("a", 0), { name: "Stall" })).toBeDefined()
    for (const _ of [1, 2]) expect(sent.recordFirst(form("", 0), content)).toBeDefined()
  })

  it("may be sent again after the record was undone", () => {
    const sent = makeSentForms()
    sent.recordFirst(form("a", 0), content)?.undo()
    expect(sent.recordFirst(form("a", 1), content)).toBeDefined()
  })

  it("is forgotten after 10,000 other forms", () => {
    const sent = makeSentForms()
    for (let index = 0; index < 10_000; index++) sent.recordFirst(form(`${index}`, index), content)
    expect(sent.recordFirst(form("0", 10_000), content)).toBeUndefined()
    sent.recordFirst(form("another", 10_000), content)
    expect(sent.recordFirst(form("1", 10_000), content)).toBeUndefined()
    expect(sent.recordFirst(form("0", 10_000), content)).toBeDefined()
  })
})
