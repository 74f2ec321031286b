import { assert, describe, it } from "@effect/vitest"
import { field, isVisible, makeForm, parseCents, parseCredits, problemSummary } from "./form.ts"

describe("amounts as people type them", () => {
  it.each([
    ["250", 250_000],
    ["$250", 250_000],
    ["$ 1,000.50", 1_000_500],
    ["1,000,000", 1_000_000_000],
    ["0.005", 5],
    ["0", 0],
    ["", undefined],
    ["-5", undefined],
    ["1,5", undefined],
    ["10,0000", undefined],
    ["10,00", undefined],
    ["1000,000", undefined],
    ["1e3", undefined],
    ["0.0001", undefined],
    ["ten", undefined]
  ])("reads %j as %s credits", (typed, credits) => {
    assert.strictEqual(parseCredits(typed), credits)
  })
  it.each([
    ["10", 1000],
    ["10.5", 1050],
    ["10.55", 1055],
    ["10.555", undefined],
    ["x", undefined]
  ])("reads %j as %s cents", (typed, cents) => {
    assert.strictEqual(parseCents(typed), cents)
  })
})

describe("a form that was sent", () => {
  const form = makeForm(
    new URLSearchParams([
      ["name", " a\u0000b\u0007 "],
      ["reversed", "\u202Eevil\u2066\u2028 name"],
      ["scopes", "a"],
      ["scopes", "b"],
      ["on", ""]
    ])
  )

  it("strips invisible characters from its texts, and keeps exact values such as passwords", () => {
    assert.strictEqual(form.text("name"), "ab")
    assert.strictEqual(form.exact("name"), " a\u0000b\u0007 ")
    assert.strictEqual(form.text("missing"), "")
    assert.strictEqual(form.text("reversed"), "evil name")
  })
  it("recognises a string without any visible character", () => {
    for (const text of ["", " ", "\u200B", "\u2060\u3164\uFE0F", "\u{E0041}"]) assert.isFalse(isVisible(text), text)
    for (const text of ["a", "\u{1F600}", "ключ", "\u200Bx"]) assert.isTrue(isVisible(text), text)
  })
  it("returns all values of a name, and which names were sent", () => {
    assert.deepStrictEqual(form.all("scopes"), ["a", "b"])
    assert.deepStrictEqual([form.has("on"), form.has("off")], [true, false])
  })
})

describe("a field", () => {
  it("is linked to its label, its hint and its error, and escapes all of them", async () => {
    const text = String(
      await field({ name: "budget", label: "Budget <$>", value: '"><script>', hint: "a & b", error: "too <much>" })
    )
    assert.include(text, '<label for="budget">Budget &lt;$&gt;</label>')
    assert.include(text, 'aria-describedby="budget-hint budget-error" aria-invalid="true"')
    assert.include(text, 'value="&quot;&gt;&lt;script&gt;"')
    assert.include(text, '<p class="error" id="budget-error">too &lt;much&gt;</p>')
  })
})

describe("the summary of a form's errors", () => {
  it("has the focus, links to each field, and is absent without errors", async () => {
    const text = String(await problemSummary({ budget: "too <much>" }))
    assert.match(text, /^<div class="notice bad" role="alert" tabindex="-1" data-focus>/)
    assert.include(text, '<a href="#budget">too &lt;much&gt;</a>')
    assert.isNull(problemSummary({}))
  })
})
