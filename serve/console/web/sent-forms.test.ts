import { describe, expect, it } from "vitest"
import { makeForm } from "./form.ts"
import { makeSentForms } from "./sent-forms.ts"

const content = { name: "Shop" }
const aForm = (submission: string, now: number, id = "acc_1") => ({
  account: { id },
  form: makeForm(new URLSearchParams({ submission })),
  now
})

describe("a form that was sent", () => {
  it("counts as a repetition for ten minutes", () => {
    const sent = makeSentForms()
    expect(sent.recordFirst(aForm("a", 0), content)).toBeDefined()
    expect(sent.recordFirst(aForm("a", 599_999), content)).toBeUndefined()
    expect(sent.recordFirst(aForm("a", 600_000), content)).toBeDefined()
  })

  it("counts as new if its random string, account or content differs, or if it has no random string", () => {
    const sent = makeSentForms()
    expect(sent.recordFirst(aForm("a", 0), content)).toBeDefined()
    expect(sent.recordFirst(aForm("b", 0), content)).toBeDefined()
    expect(sent.recordFirst(aForm("a", 0, "acc_2"), content)).toBeDefined()
    expect(sent.recordFirst(aForm("a", 0), { name: "Stall" })).toBeDefined()
    for (const _ of [1, 2]) expect(sent.recordFirst(aForm("", 0), content)).toBeDefined()
  })

  it("can be sent again after the record is undone", () => {
    const sent = makeSentForms()
    sent.recordFirst(aForm("a", 0), content)?.undo()
    expect(sent.recordFirst(aForm("a", 1), content)).toBeDefined()
  })

  it("counts as new after 10,000 other forms", () => {
    const sent = makeSentForms()
    for (let index = 0; index < 10_000; index++) sent.recordFirst(aForm(`${index}`, index), content)
    expect(sent.recordFirst(aForm("0", 10_000), content)).toBeUndefined()
    sent.recordFirst(aForm("another", 10_000), content)
    expect(sent.recordFirst(aForm("1", 10_000), content)).toBeUndefined()
    expect(sent.recordFirst(aForm("0", 10_000), content)).toBeDefined()
  })
})
