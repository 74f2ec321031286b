import { assert, describe, it } from "@effect/vitest"
import { PrintableText } from "./administration.ts"

describe("printable text", () => {
  it.each(["\ud800", "half \udc00 a pair", "line\nbreak", "\u0000", "  "])("rejects %j", (text) => {
    assert.throws(() => PrintableText.make(text))
  })
})
