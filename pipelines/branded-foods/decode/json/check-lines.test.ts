import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { checkLines } from "./check-lines.ts"
import type { FoodReject } from "./food-list.ts"

const checkChunk = Effect.fnUntraced(function* (...lines: ReadonlyArray<string | Buffer>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-check-" })
  const file = `${folder}/foods-00001.ndjson`
  yield* fs.writeFile(file, Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\n")]))))
  const parts: Array<ReadonlyArray<FoodReject>> = []
  yield* checkLines(file, (rejects) => Effect.sync(() => parts.push(rejects)))
  assert.deepStrictEqual(yield* fs.readDirectory(folder), ["foods-00001.ndjson"])
  return { parts: parts.map(({ length }) => length), rejects: parts.flat(), remaining: yield* fs.readFileString(file) }
})

layer(NodeServices.layer)("a chunk that could not be loaded as a whole", (it) => {
  it.effect("keeps its good lines unchanged", () =>
    Effect.gen(function* () {
      const good = ['{"line":2,"d":"ü 😀 \\ud83d\\ude00"}', '{"line":3,"n":4.00E+4}'] as const
      assert.deepStrictEqual(yield* checkChunk(...good), { parts: [], rejects: [], remaining: `${good.join("\n")}\n` })
    })
  )

  it.effect.each([
    [
      "not JSON",
      '{"line":7,"d":1,}',
      /^the record is not JSON: Expected double-quoted property name in JSON/,
      '{"d":1,}'
    ],
    [
      "two records",
      '{"line":7,"d":1},{"d":2}',
      /^the record is not JSON: Unexpected non-whitespace character/,
      '{"d":1},{"d":2}'
    ],
    [
      "a control character",
      '{"line":7,"d":"\u0001"}',
      /^the record is not JSON: Bad control character/,
      '{"d":"\u0001"}'
    ],
    [
      "half of a surrogate pair",
      '{"line":7,"d":"\\ud83d"}',
      /^the record is not JSON: half of a surrogate pair in "d"$/,
      '{"d":"\\ud83d"}'
    ],
    [
      "a duplicate key",
      '{"line":7,"fdcId":1,"fdcId":2}',
      /^the record has a duplicate key "fdcId"$/,
      '{"fdcId":1,"fdcId":2}'
    ],
    ["an object instead of a string", '{"line":7,"footnote":{}}', /^footnote is not a string$/, '{"footnote":{}}'],
    ["not UTF-8", Buffer.from('{"line":7,"d":"\xff"}', "latin1"), /^the record is not valid UTF-8$/, '{"d":"\ufffd"}'],
    [
      "very long",
      `{"line":7,"d":"${"x".repeat(9000)}`,
      /^the record is not JSON: Unterminated string/,
      `{"d":"${"x".repeat(1994)}`
    ]
  ] as const)("removes a bad line, and reports its line number and reason: %s", ([, bad, reason, payload]) =>
    Effect.gen(function* () {
      const { remaining, rejects } = yield* checkChunk('{"line":6,"d":1}', bad, '{"line":8,"d":1}')
      assert.strictEqual(remaining, '{"line":6,"d":1}\n{"line":8,"d":1}\n')
      assert.lengthOf(rejects, 1)
      assert.match(rejects[0]?.reason ?? "", reason)
      assert.deepStrictEqual(rejects[0], { line: 7, reason: rejects[0]?.reason ?? "", payload })
    })
  )

  it.effect("reports 2,500 rejects in batches of at most 1,000, and becomes empty", () =>
    Effect.gen(function* () {
      const broken = Array.from({ length: 2500 }, (_, i) => `{"line":${i + 2},"d":`)
      const { remaining, parts, rejects } = yield* checkChunk(...broken)
      assert.strictEqual(remaining, "")
      assert.deepStrictEqual(parts, [1000, 1000, 500])
      assert.deepStrictEqual(
        rejects.map(({ line }) => line),
        broken.map((_, i) => i + 2)
      )
    })
  )

  it.effect("keeps lines that are longer than one read", () =>
    Effect.gen(function* () {
      const long = (line: number) => `{"line":${line},"d":"${"ü".repeat(1.6e6)}"}`
      const { remaining, rejects } = yield* checkChunk(long(2), '{"line":3,}', long(4), long(5))
      assert.isTrue(remaining === `${long(2)}\n${long(4)}\n${long(5)}\n`)
      assert.deepStrictEqual(
        rejects.map(({ line }) => line),
        [3]
      )
    })
  )
})
