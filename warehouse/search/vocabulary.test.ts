import { assert, describe, it } from "@effect/vitest"
import { makeVocabulary, VocabularyBuilder } from "./vocabulary.ts"

const build = (tokens: ReadonlyArray<string>) => {
  const builder = new VocabularyBuilder()
  for (const [hash, token] of tokens.entries())
    builder.assignNumber(Buffer.from(token), 0, Buffer.byteLength(token), hash)
  const order = builder.sortTokens()
  const { bytes, starts } = builder.serialize(order)
  return { vocabulary: makeVocabulary(bytes, starts), sortedTokens: [...order].map((token) => tokens[token] ?? "") }
}

describe("a vocabulary of more than one piece", () => {
  // Eleven bytes a line: 123831abcd and 147662abcd lie across the ends of pieces of 256 kB.
  const tokens = Array.from({ length: 60_000 }, (_, i) => `${((i * 7919) % 60_000) + 100_000}abcd`)
  const { sortedTokens, vocabulary } = build(tokens)

  it.each([
    "1591",
    "9abcd",
    "100000abcd",
    "159999abcd",
    "123831abcd",
    "147662abcd",
    "abcd1",
    "77",
    "zz",
    "0".repeat(300_000)
  ])("finds the tokens that contain or end with text %#, with pauses", (text) => {
    for (const where of ["anywhere", "end"] as const) {
      const results = [...vocabulary.findContaining(Buffer.from(text), where)]
      const expected = sortedTokens.flatMap((token, i) =>
        (where === "end" ? token.endsWith(text) : token.includes(text)) ? [i] : []
      )
      assert.deepStrictEqual(
        results.filter((token) => token !== undefined),
        expected
      )
      if (expected.length === 0) assert.isAbove(results.length, 2)
    }
  })
})
