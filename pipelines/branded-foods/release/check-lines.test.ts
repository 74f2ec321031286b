import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { checkLines } from "./check-lines.ts"

const checked = Effect.fnUntraced(function* (...lines: ReadonlyArray<string | Buffer>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-check-" })
  const file = `${folder}/foods-00001.ndjson`
  yield* fs.writeFile(file, Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\n")]))))
  const result = yield* checkLines(file)
  assert.deepStrictEqual(yield* fs.readDirectory(folder), ["foods-00001.ndjson"])
  return { ...result, kept: yield* fs.readFileString(file) }
})

layer(NodeServices.layer)("a chunk that was refused", (it) => {
  it.effect("keeps its good lines, as they were", () =>
    Effect.gen(function* () {
      const good = ['{"line":2,"d":"ü 😀 \\ud83d\\ude00"}', '{"line":3,"n":4.00E+4}'] as const
      assert.deepStrictEqual(yield* checked(...good), { records: 2, rejects: [], kept: `${good.join("\n")}\n` })
    })
  )

  it.effect.each([
    [
      "no JSON",
      '{"line":7,"d":1,}',
      /^the record is no JSON: Expected double-quoted property name in JSON/,
      '{"d":1,}'
    ],
    [
      "two records",
      '{"line":7,"d":1},{"d":2}',
      /^the record is no JSON: Unexpected non-whitespace character/,
      '{"d":1},{"d":2}'
    ],
    [
      "a control character",
      '{"line":7,"d":"\u0001"}',
      /^the record is no JSON: Bad control character/,
      '{"d":"\u0001"}'
    ],
    [
      "half of a pair",
      '{"line":7,"d":"\\ud83d"}',
      /^the record is no JSON: half of a surrogate pair in "d"$/,
      '{"d":"\\ud83d"}'
    ],
    ["no UTF-8", Buffer.from('{"line":7,"d":"\xff"}', "latin1"), /^the record is no valid UTF-8$/, '{"d":"\ufffd"}'],
    [
      "very long",
      `{"line":7,"d":"${"x".repeat(9000)}`,
      /^the record is no JSON: Unterminated string/,
      `{"d":"${"x".repeat(1994)}`
    ]
  ] as const)("tells of %s, with its line and reason", ([, bad, reason, payload]) =>
    Effect.gen(function* () {
      const { kept, records, rejects } = yield* checked('{"line":6,"d":1}', bad, '{"line":8,"d":1}')
      assert.strictEqual(kept, '{"line":6,"d":1}\n{"line":8,"d":1}\n')
      assert.strictEqual(records, 2)
      assert.lengthOf(rejects, 1)
      assert.match(rejects[0]?.reason ?? "", reason)
      assert.deepStrictEqual(rejects[0], { line: 7, reason: rejects[0]?.reason ?? "", payload })
    })
  )
})
