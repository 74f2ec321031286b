import { assert, describe, it } from "@effect/vitest"
import { findGuide } from "./guides.ts"

describe("the page of the dictionary", () => {
  const { markdown, summary, title } = findGuide("/docs/dictionary")
  it("has the tables of docs/dictionary.md, without the diagrams, which browsers do not draw", () => {
    assert.strictEqual(title, "Dictionary of the warehouse")
    assert.match(summary, /^Every table, view and macro/)
    assert.match(markdown, /^### `commodity\.observation`$/m)
    assert.notInclude(markdown, "mermaid")
    assert.notInclude(markdown, "erDiagram")
  })
})
