import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { zipOf } from "@larder/test/support/pipelines/handmade-zips.ts"
import { Deferred, Effect, FileSystem } from "effect"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { openZip, readUnzipped } from "../../source/zip.ts"
import { type Chunk, splitFoods } from "./food-lines.ts"
import { FoodListUnusable } from "./food-list.ts"

/** As from a zip, a piece is not valid after the next one is requested. */
const splitBytes = (text: string | Buffer, size: number) => {
  const bytes = Buffer.from(text)
  return (async function* () {
    for (let at = 0; at < bytes.length; at += size) {
      const piece = Buffer.from(bytes.subarray(at, at + size))
      yield piece
      piece.fill("#")
    }
  })()
}

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "larder-foods-" })
)

/** All lines and rejects. */
const splitPieces = Effect.fnUntraced(function* (
  bytes: AsyncIterable<Buffer>,
  options: { readonly maxRecordBytes?: number } = {}
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* makeFolder
  const lines: Array<string> = []
  const rejects: Array<Chunk["rejects"][number]> = []
  const list = { name: "foods.json", bytes }
  const counts = yield* splitFoods(list, { folder, ...options }, (chunk) =>
    Effect.gen(function* () {
      const text = yield* fs.readFileString(chunk.file)
      lines.push(...text.split("\n").slice(0, -1))
      rejects.push(...chunk.rejects)
    })
  )
  assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
  assert.deepStrictEqual(counts, { records: lines.length, rejects: rejects.length })
  return { lines, rejects }
})

const split = (text: string | Buffer, size = 1 << 20, options: { readonly maxRecordBytes?: number } = {}) =>
  splitPieces(splitBytes(text, size), options)

const a = '{"fdcId":1,"d":"a \\"{[ ]} b","n":[{"x":1}]}'
const b = '{"fdcId":2,"d":"ü","n":[]}'
const addLine = (record: string, line: number) => `{"line":${line},${record.slice(1)}`
const sizes = [1, 3, 64, 1 << 20]

layer(NodeServices.layer)("the records of a JSON release, in pieces of any size", (it) => {
  it.effect.each([
    ["are on separate lines", `{"BrandedFoods": [\n${a},\n${b}\n]}`, 2, 3],
    ["end with a line feed", `{"BrandedFoods": [\n${a},\n${b}\n]}\n`, 2, 3],
    ["share lines with head and end", `{"BrandedFoods":[${a},\n${b}]}`, 1, 2],
    ["end in carriage returns and spaces", `{"BrandedFoods": [\r\n${a} , \r\n\r\n${b}\r\n] }\r\n`, 2, 4],
    ["follow a BOM and a head on several lines", `\ufeff{\n"BrandedFoods":\n[\n${a},\n${b}\n]\n}\n`, 4, 5],
    ["begin with their commas", `{"BrandedFoods": [\n${a}\n,${b}\n]}`, 2, 3],
    ["end with one comma too many", `{"BrandedFoods": [\n${a},\n${b},\n]}`, 2, 3]
  ] as const)("reads records that %s", ([, text, lineOfA, lineOfB]) =>
    Effect.gen(function* () {
      for (const size of sizes) {
        const { lines, rejects } = yield* split(text, size)
        assert.deepStrictEqual(lines, [addLine(a, lineOfA), addLine(b, lineOfB)], `pieces of ${size}`)
        assert.deepStrictEqual(rejects, [])
      }
    })
  )

  it.effect("reads records that cross the pieces of a file, zipped or not", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      const records = Array.from({ length: 20 }, (_, id) => `{"fdcId":${id},"d":"${String(id).repeat(200_000)}"}`)
      const content = `{"BrandedFoods": [\n${records.join(",\n")}\n]}`
      yield* fs.writeFileString(`${folder}/foods.json`, content)
      yield* fs.writeFile(`${folder}/foods.zip`, zipOf({ path: "foods.json", content }))
      const zip = yield* openZip(`${folder}/foods.zip`, "foods.zip")
      for (const bytes of [readUnzipped(`${folder}/foods.json`, "foods.json"), zip.bytes(yield* zip.json)]) {
        const { lines, rejects } = yield* splitPieces(bytes)
        const expected = records.map((record, index) => addLine(record, index + 2))
        assert.isTrue(lines.join("\n") === expected.join("\n")) // a difference would print megabytes
        assert.deepStrictEqual(rejects, [])
      }
    })
  )

  it.effect("reads a list without records, and records without keys", () =>
    Effect.gen(function* () {
      for (const text of ['{"BrandedFoods":[]}', '{"BrandedFoods": [\n]}\n', '{ "BrandedFoods" : [ ] } ']) {
        assert.deepStrictEqual(yield* split(text, 3), { lines: [], rejects: [] })
      }
      const { lines } = yield* split(`{"BrandedFoods": [\n{},\n{ },\n${a}\n]}`, 5)
      assert.deepStrictEqual(lines, ['{"line":2}', '{"line":3}', addLine(a, 4)])
    })
  )
})

layer(NodeServices.layer)("a broken record of a JSON release", (it) => {
  const long = `{"fdcId":3,"d":"${"x".repeat(5000)}"}`
  const list = (...lines: ReadonlyArray<string>) => `{"BrandedFoods": [\n${lines.join(",\n")}\n]}\n`
  const noEnd = "the record does not end on its line"

  it.effect.each([
    ["truncated in the middle", list(a, '{"fdcId":2,"d":"hal', b), 3, noEnd, '{"fdcId":2,"d":"hal'],
    ["without its beginning", list(a, '"d":"half"}', b), 3, "the line does not begin with {", '"d":"half"}'],
    ["something else", list(a, "null", b), 3, "the line does not begin with {", "null"],
    ["truncated in the middle, and first", list('{"fdcId":2,"d":"hal', a, b), 2, noEnd, '{"fdcId":2,"d":"hal'],
    ["truncated between strings, and first", list('{"fdcId":2,"d":[1', a, b), 2, noEnd, '{"fdcId":2,"d":[1'],
    ["something else, and first", list("null", a, b), 2, "the line does not begin with {", "null"],
    ["the last one", list(a, b, '{"fdcId":3,"d":"hal'), 4, noEnd, '{"fdcId":3,"d":"hal'],
    ["oversized", list(a, long, b), 3, "the record is longer than 4000 bytes", long.slice(0, 2000)],
    ["oversized, and first", list(long, a, b), 2, "the record is longer than 4000 bytes", long.slice(0, 2000)]
  ] as const)("is reported with line and reason, and the others are read: %s", ([, text, line, reason, payload]) =>
    Effect.gen(function* () {
      for (const size of sizes) {
        const { lines, rejects } = yield* split(text, size, { maxRecordBytes: 4000 })
        assert.deepStrictEqual(rejects, [{ line, reason, payload }], `pieces of ${size}`)
        assert.deepStrictEqual(
          lines.map((line) => line.replace(/"line":\d+,/, "")),
          [a, b]
        )
      }
    })
  )

  it.effect.each([
    ["a line break in a string", ['{"fdcId":3,"d":"ha', 'lf"}']],
    ["line breaks between its keys", ['{"fdcId":3,', '"d":"",', '"n":[]}']],
    ["a brace too many, as between two records", ['{"fdcId":3,"n":[{"x":1}},{"x":2}]}']]
  ] as const)("is reported, and the others are read, if it is the first and has %s", ([, broken]) =>
    Effect.gen(function* () {
      for (const size of sizes) {
        const text = `{"BrandedFoods": [\n${broken.join("\n")},\n${a},\n${b}\n]}\n`
        const { lines, rejects } = yield* split(text, size)
        const good = [addLine(a, broken.length + 2), addLine(b, broken.length + 3)]
        assert.deepStrictEqual(lines.slice(-2), good, `pieces of ${size}`)
        // a line with both braces is rejected later, as no JSON
        assert.lengthOf([...lines.slice(0, -2), ...rejects], broken.length)
      }
    })
  )

  it.effect("is reported if something else follows on its line without a comma at the end", () =>
    Effect.gen(function* () {
      const { lines, rejects } = yield* split(`{"BrandedFoods": [\n${a},\n${b}, null\n]}`)
      assert.deepStrictEqual(lines, [addLine(a, 2)])
      assert.deepStrictEqual(rejects, [
        { line: 3, reason: "the record shares its line with something else", payload: `${b}, null` }
      ])
    })
  )

  it.effect("is reported with its first 2,000 characters if it has 20 MB", () =>
    Effect.gen(function* () {
      const { lines, rejects } = yield* split(list(a, `{"d":"${"x".repeat(20_000_000)}"}`, b))
      assert.lengthOf(lines, 2)
      assert.deepStrictEqual(
        rejects.map(({ line, payload }) => [line, payload.length]),
        [[3, 2000]]
      )
    })
  )

  it.effect("is reported, even if there are 5,000 of them", () =>
    Effect.gen(function* () {
      const { rejects } = yield* split(list(a, ...Array.from({ length: 5000 }, () => "null")), 1000)
      assert.lengthOf(rejects, 5000)
    })
  )
})

layer(NodeServices.layer)("a file that is not a release", (it) => {
  const head = '{"BrandedFoods": ['
  it.effect.each([
    ["truncated after a record", `${head}\n${a},\n${b},\n`, 4, 'it was cut off: the closing "]}" is missing'],
    ["truncated in a record", `${head}\n${a},\n{"fdc`, 3, 'it was cut off: the closing "]}" is missing'],
    ["truncated in its only record", `${head}\n{"fdc`, 2, 'it was cut off: the closing "]}" is missing'],
    [
      "truncated after what looks like its end",
      `${head}\n${a},\n{"n":[{"x":1}]}`,
      3,
      'it was cut off: the closing "]}" is missing'
    ],
    ["truncated before the last brace", `${head}\n${a}\n]`, 3, 'it was cut off: the closing "}" is missing'],
    ["truncated in the head", '{"Brand', 1, "it was cut off before its first record"],
    ["empty", " \n", 1, "the file is empty"],
    [
      "of another data type",
      `{"FoundationFoods": [\n${a}\n]}`,
      1,
      'it begins with "FoundationFoods", but a release of branded foods begins with "BrandedFoods"'
    ],
    [
      "with another key after the list",
      `${head}\n${a}\n], "SRLegacyFoods": []}`,
      3,
      'it has "SRLegacyFoods" next to "BrandedFoods"'
    ],
    ["in UTF-16", Buffer.from(`\ufeff${head}\n${a}\n]}`, "utf16le"), 1, "it is UTF-16, and a release is UTF-8"],
    ["in UTF-16 without a BOM", Buffer.from(`${head}\n${a}\n]}`, "utf16le"), 1, "it is UTF-16, and a release"],
    ["without a list", '{"BrandedFoods": {}}', 1, '"BrandedFoods" is not a list'],
    ["a list of something else", '[{"id":1}]', 1, 'it begins with "[{\\"id\\":1}]", not with {"BrandedFoods": ['],
    ["not JSON", "fdc_id,description\n1,x\n", 1, 'it begins with "fdc_id,description'],
    ["two releases in one", `${head}\n${a}\n]}\n${head}\n${a}\n]}`, 3, "follows the list of foods"]
  ] as const)("fails with the number of the line: %s", ([, text, line, problem]) =>
    Effect.gen(function* () {
      for (const size of sizes) {
        const error = yield* Effect.flip(split(text, size))
        assert.instanceOf(error, FoodListUnusable)
        assert.strictEqual(error.line, line, `pieces of ${size}`)
        assert.include(error.message, `foods.json, line ${line}: `)
        assert.include(error.message, problem)
      }
    })
  )
})

layer(NodeServices.layer)("a file that another tool has saved again", (it) => {
  const foods = [a, b].map((record): unknown => JSON.parse(record))
  const rewriteWith = (filter: string) =>
    `Rewrite it: set -o pipefail; (echo '{"BrandedFoods": [' && jq -c '${filter}' FILE | sed '$!s/$/,/' && echo ']}') >rewritten/FILE`
  const remedy = rewriteWith(".BrandedFoods[]")

  it.effect.each([
    ["has all records on one line", JSON.stringify({ BrandedFoods: foods }), 1],
    ["has all records on the second line", `{"BrandedFoods":[\n${a}, ${b}\n]}`, 2],
    ["has two records on the last of many lines", `{"BrandedFoods":[\n${`${a},\n`.repeat(20)}${a}, ${b}\n]}`, 22],
    ["is indented by two spaces", JSON.stringify({ BrandedFoods: foods }, null, 2), 4],
    ["is indented by tabs", JSON.stringify({ BrandedFoods: foods }, null, "\t"), 4],
    ["has each brace after a bracket", `{"BrandedFoods": [{\n  "fdcId": 1\n}, {\n  "fdcId": 2\n}]}`, 2],
    ["has the first key beside the brace", `{"BrandedFoods": [\n{ "fdcId": 1,\n  "d": "" },\n`, 3]
  ] as const)("is refused with a command that rewrites it if it %s", ([, text, line]) =>
    Effect.gen(function* () {
      for (const size of sizes) {
        const error = yield* Effect.flip(split(text, size))
        assert.strictEqual(
          error.message,
          `foods.json, line ${line}: its records are not on one line each, as USDA publishes them. ${remedy}`,
          `pieces of ${size}`
        )
      }
    })
  )

  it.effect.each([
    [
      "JSON lines",
      `${a}\n${b}\n`,
      'it begins with a food, as JSON lines do, and not with {"BrandedFoods": [',
      rewriteWith(".")
    ],
    [
      "a list alone",
      JSON.stringify(foods),
      'it is a list of foods without {"BrandedFoods": around it',
      rewriteWith(".[]")
    ],
    [
      "a list alone, indented",
      JSON.stringify(foods, null, 2),
      'it is a list of foods without {"BrandedFoods": around it',
      rewriteWith(".[]")
    ]
  ] as const)("is refused with a command that rewrites it if it is %s", ([, text, problem, command]) =>
    Effect.gen(function* () {
      for (const size of sizes) {
        const error = yield* Effect.flip(split(text, size))
        assert.strictEqual(error.message, `foods.json, line 1: ${problem}. ${command}`, `pieces of ${size}`)
      }
    })
  )

  it.effect("is refused if it is one line that is longer than a record may be", () =>
    Effect.gen(function* () {
      for (const size of sizes) {
        const text = JSON.stringify({ BrandedFoods: Array.from({ length: 200 }, () => foods[0]) })
        const error = yield* Effect.flip(split(text, size, { maxRecordBytes: 4000 }))
        assert.include(error.message, remedy)
      }
    })
  )

  it.effect("is read once that command has rewritten it", () =>
    Effect.gen(function* () {
      // what it writes with jq 1.6
      const { lines } = yield* split(`{"BrandedFoods": [\n${a},\n${b}\n]}\n`)
      assert.deepStrictEqual(lines, [addLine(a, 2), addLine(b, 3)])
    })
  )
})

layer(NodeServices.layer)("the chunks of a release", (it) => {
  const many = `{"BrandedFoods": [\n${Array.from({ length: 1000 }, (_, n) => `{"fdcId":${n},"d":"${"x".repeat(100)}"}`).join(",\n")}\n]}`

  it.effect("have the order of the file and about the requested size, and are deleted after use", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      const records: Array<number> = []
      const ids: Array<number> = []
      const list = { name: "foods.json", bytes: splitBytes(many, 1000) }
      yield* splitFoods(list, { folder, chunkBytes: 20_000 }, (chunk) =>
        Effect.gen(function* () {
          records.push(chunk.records)
          const text = yield* fs.readFileString(chunk.file)
          assert.isBelow(text.length, 22_000)
          ids.push(...[...text.matchAll(/"fdcId":(\d+)/g)].map(([, id]) => Number(id)))
          assert.lengthOf(text.trimEnd().split("\n"), chunk.records)
        })
      )
      assert.isAbove(records.length, 5)
      assert.deepStrictEqual(
        ids,
        Array.from({ length: 1000 }, (_, n) => n)
      )
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
    })
  )

  it.effect("begin with an eighth of the usual size, which doubles until the fourth", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      const eighths: Array<number> = []
      const list = { name: "foods.json", bytes: splitBytes(many, 500) }
      yield* splitFoods(list, { folder, chunkBytes: 40_000 }, ({ file }) =>
        Effect.map(fs.stat(file), ({ size }) => eighths.push(Math.floor(Number(size) / 5000)))
      )
      assert.deepStrictEqual(eighths.slice(0, 5), [1, 2, 4, 8, 8])
    })
  )

  it.effect("keeps at most four chunks on disk: one in use, two waiting and one being written", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      let maxFiles = 0
      const list = { name: "foods.json", bytes: splitBytes(many, 1000) }
      yield* splitFoods(list, { folder, chunkBytes: 5000 }, () =>
        Effect.gen(function* () {
          for (let turn = 0; turn < 20; turn++) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
          maxFiles = Math.max(maxFiles, (yield* fs.readDirectory(folder)).length)
        })
      )
      assert.isAtMost(maxFiles, 4)
    })
  )

  it.effect("deletes all chunks when their use fails, the list is damaged, or the work is interrupted", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      const options = { folder, chunkBytes: 5000 }
      const list = (text: string) => ({ name: "foods.json", bytes: splitBytes(text, 1000) })
      assert.strictEqual(yield* Effect.flip(splitFoods(list(many), options, () => Effect.fail("refused"))), "refused")
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
      yield* Effect.flip(splitFoods(list(many.slice(0, 90_000)), options, () => Effect.void))
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
      const begun = yield* Deferred.make<void>()
      const use = () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      yield* Effect.raceFirst(splitFoods(list(many), options, use), Deferred.await(begun))
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
    })
  )

  it.effect("advises to check space and permissions when a chunk cannot be written", () =>
    Effect.gen(function* () {
      const list = { name: "foods.json", bytes: splitBytes(many, 1000) }
      const folder = `${yield* makeFolder}/missing`
      const error = yield* Effect.flip(splitFoods(list, { folder }, () => Effect.void))
      assert.instanceOf(error, FileUnwritable)
      assert.include(error.message, "Check free space and permissions")
    })
  )
})
