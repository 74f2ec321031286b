import { assert, describe, it } from "@effect/vitest"
import { PrintableText } from "./administration.ts"

describe("a line of text in the ledger", () => {
  it.each(["\ud800", "half \udc00 a pair", "line\nbreak", "\u0000", "  "])("is not %j", (text) => {
    assert.throws(() => PrintableText.make(text))
  })
})
