/** Compares docs/dictionary.md with the definitions of the tables and the bundled samples. */
import { expect, inject, it } from "vitest"
import { makeDictionary } from "../dictionary/markdown.ts"
import { readDocument } from "./documents.ts"

it("docs/dictionary.md is what `node test/dictionary/record.ts` writes", async () => {
  expect(await makeDictionary(inject("sampleHome"))).toBe(readDocument("docs/dictionary.md").text)
})
