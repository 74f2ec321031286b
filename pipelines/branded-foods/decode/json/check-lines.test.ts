import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { checkLines } from "./check-lines.ts"
import type { FoodReject } from "./food-list.ts"
import type { OddPart } from "./record-parts.ts"

const checkChunk = Effect.fnUntraced(function* (...lines: ReadonlyArray<string | Buffer>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-check-" })
  const file = `${folder}/foods-00001.ndjson`
  yield* fs.writeFile(file, Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\n")]))))
  const parts: Array<ReadonlyArray<FoodReject>> = []
  const odd: Array<string> = []
  const countOdd = ({ field, value }: OddPart) => odd.push(`${field}: ${JSON.stringify(value)}`)
  yield* checkLines(file, "foods.json", (rejects) => Effect.sync(() => parts.push(rejects)), countOdd)
  assert.deepStrictEqual(yield* fs.readDirectory(folder), ["foods-00001.ndjson"])
  const remaining = yield* fs.readFileString(file)
  return { parts: parts.map(({ length }) => length), rejects: parts.flat(), odd, remaining }
})

layer(NodeServices.layer)("a chunk that could not be loaded as a whole", (it) => {
  it.effect("keeps its good lines unchanged", () =>
    Effect.gen(function* () {
      const good = ['{"line":2,"d":"ü 😀 \\ud83d\\ude00"}', '{"line":3,"n":4.00E+4}'] as const
      const remaining = `${good.join("\n")}\n`
      assert.deepStrictEqual(yield* checkChunk(...good), { parts: [], rejects: [], odd: [], remaining })
    })
  )

  it.effect("has blanks in place of NULs in its good lines, escaped or not", () =>
    Effect.gen(function* () {
      const { rejects, remaining } = yield* checkChunk(
        '{"line":2,"d":"a\\u0000b"}',
        '{"line":3,"d":"a\0b","n":4.00E+4}',
        '{"line":4,"d":"a\\\\u0000 \\\\\\u0000"}'
      )
      assert.deepStrictEqual(rejects, [])
      assert.deepStrictEqual(remaining.split("\n"), [
        '{"line":2,"d":"a b"}',
        '{"line":3,"d":"a b","n":4.00E+4}',
        '{"line":4,"d":"a\\\\u0000 \\\\ "}',
        ""
      ])
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
      "a brace too many, as between two records",
      '{"line":7,"n":[{"x":1}},{"x":2}]}',
      /^the record is not JSON: Expected ',' or '\]'/,
      '{"n":[{"x":1}},{"x":2}]}'
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
    ["an object instead of a string", '{"line":7,"gtinUpc":{}}', /^gtinUpc is not a string$/, '{"gtinUpc":{}}'],
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

  it.effect.each(['{"line":7,"d":1},{"d":2}', '{"line":7,"d":1} {"d":2}'])(
    "fails with the command that rewrites the release if a line has two records: %s",
    (line) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(checkChunk('{"line":6,"d":1}', line, '{"line":8,"d":1}'))
        assert.match(error.message, /^foods\.json, line 7: its records are not on one line each.* jq -c /)
      })
  )

  it.effect("removes optional parts of another shape, and keeps the other numbers as they are", () =>
    Effect.gen(function* () {
      const odd =
        '{"line":7,"servingSize":4.00E+1,"footnote":{"a":1},"foodAttributes":[{"name":"A","value":[]},5,6,{"name":"B"}]}'
      const { odd: counted, rejects, remaining } = yield* checkChunk('{"line":6,"n":0.000}', odd)
      assert.deepStrictEqual(rejects, [])
      assert.strictEqual(
        remaining,
        '{"line":6,"n":0.000}\n{"line":7,"servingSize":4.00E+1,"foodAttributes":[{"name":"A"},{"name":"B"}]}\n'
      )
      assert.deepStrictEqual(counted.toSorted(), [
        "foodAttributes.value: []",
        "foodAttributes: 5",
        "foodAttributes: 6",
        'footnote: {"a":1}'
      ])
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
