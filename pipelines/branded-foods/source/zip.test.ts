import { randomBytes } from "node:crypto"
import { deflateRawSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { type Part, zipOf } from "@larder/test/support/pipelines/handmade-zips.ts"
import { Effect, FileSystem } from "effect"
import { FileUnwritable } from "../../run/files/write-all.ts"
import { openZip, readUnzipped } from "./zip.ts"
import { FileMissing, ZipUnusable, zipLimits } from "./zip-members.ts"

const release = "FoodData_Central_branded_food_csv_2026-04-30"
const food: Part = { path: "food.csv", content: '"fdc_id"\n"1"\n' }

const writeZip = Effect.fnUntraced(function* (bytes: Buffer) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-zip-" })
  yield* fs.writeFile(`${folder}/given.zip`, bytes)
  return `${folder}/given.zip`
})
const openBytes = (bytes: Buffer, limits = zipLimits) =>
  Effect.flatMap(writeZip(bytes), (file) => openZip(file, "release.zip", limits))

const readAll = (bytes: AsyncIterable<Buffer>) =>
  Effect.tryPromise({
    try: async () => {
      const pieces: Array<Buffer> = []
      for await (const piece of bytes) pieces.push(Buffer.from(piece))
      return Buffer.concat(pieces)
    },
    catch: (cause) => cause
  })

/** Opens it and reads one member to its end. */
const readMember = Effect.fnUntraced(function* (bytes: Buffer, name = "food.csv", limits = zipLimits) {
  const zip = yield* openBytes(bytes, limits)
  return yield* readAll(zip.bytes(yield* zip.member(name)))
})

const advice = "Download the release again, or give another one with --file."

layer(NodeServices.layer)("a release's zip", (it) => {
  it.effect("lists its members by base name, at the root or in a folder, without files that macOS adds", () =>
    Effect.gen(function* () {
      const zip = yield* openBytes(
        zipOf(
          { path: `${release}/`, content: "" },
          { path: `${release}/Food.csv`, content: "a" },
          { path: `__MACOSX/${release}/._Food.csv`, content: "b" },
          { path: `${release}/._nutrient.csv`, content: "b" },
          { path: "guide.pdf", content: "c" }
        )
      )
      assert.deepStrictEqual(
        zip.members.map(({ name, bytes }) => [name, bytes]),
        [
          ["Food.csv", 1],
          ["guide.pdf", 1]
        ]
      )
      assert.strictEqual((yield* zip.member("food.csv")).path, `${release}/Food.csv`)
    })
  )

  it.effect.each([
    ["deflated", 8],
    ["stored", 0]
  ] as const)("returns the bytes of a member that is %s", ([, method]) =>
    Effect.gen(function* () {
      const content = Buffer.concat([randomBytes(3_000_000), Buffer.alloc(3_000_000, "food")])
      assert.isTrue(
        (yield* readMember(zipOf(food, { path: "x/branded_food.csv", content, method }), "branded_food.csv")).equals(
          content
        )
      )
    })
  )

  it.effect("reads an empty member as zero bytes", () =>
    Effect.gen(function* () {
      assert.lengthOf(yield* readMember(zipOf({ path: "food.csv", content: "", method: 0 })), 0)
      assert.lengthOf(yield* readMember(zipOf({ path: "food.csv", content: "" })), 0)
    })
  )

  it.effect("reads a file that is already unpacked, or reports why it cannot", () =>
    Effect.gen(function* () {
      const file = yield* writeZip(Buffer.from("unpacked"))
      assert.strictEqual(String(yield* readAll(readUnzipped(file, "foods.json"))), "unpacked")
      const error = yield* Effect.flip(readAll(readUnzipped(`${file}/x`, "foods.json")))
      assert.instanceOf(error, ZipUnusable)
      assert.match(error.message, /^foods\.json cannot be read: ENOTDIR/)
    })
  )

  it.effect("unpacks a member into a file, and fails when the file cannot be written", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-zip-" })
      const zip = yield* openBytes(zipOf(food))
      const member = yield* zip.member("food.csv")
      yield* zip.extract(member, `${folder}/food.csv`)
      assert.strictEqual(yield* fs.readFileString(`${folder}/food.csv`), food.content)
      const error = yield* Effect.flip(zip.extract(member, `${folder}/missing/food.csv`))
      assert.instanceOf(error, FileUnwritable)
      assert.match(error.message, /^food\.csv cannot be written: ENOENT.* Check free space and permissions/)
    })
  )

  it.effect.each([
    [
      "brandedDownload.json",
      [
        ["package.json", "x".repeat(99)],
        ["x/brandedDownload.json", "{}"]
      ]
    ],
    [
      `${release}.json`,
      [
        ["a.json", "x".repeat(99)],
        [`${release}.json`, "{}"]
      ]
    ],
    [
      "foods.JSON",
      [
        ["a.json", "{}"],
        ["foods.JSON", "{ }"],
        ["z.json", "{}"]
      ]
    ]
  ] as const)("finds the foods in %s, by name or otherwise by size", ([name, members]) =>
    Effect.gen(function* () {
      const zip = yield* openBytes(zipOf(...members.map(([path, content]) => ({ path, content }))))
      assert.strictEqual((yield* zip.json).name, name)
    })
  )

  it.effect("escapes characters of member names that could control a terminal", () =>
    Effect.gen(function* () {
      const traversal = yield* Effect.flip(openBytes(zipOf({ path: "a\u001b[31m\u009b/../ü.json", content: "x" })))
      assert.match(traversal.message, /^"a\\u001b\[31m\\u009b\/\.\.\/ü\.json" in release\.zip cannot be read: /)
      const zip = yield* openBytes(
        zipOf({ path: "größe 1.txt", content: "x" }, { path: "\u202etxt.exe", content: "x" })
      )
      const missing = yield* Effect.flip(zip.json)
      assert.match(missing.message, /It contains größe 1\.txt, "\\u202etxt\.exe"\. /)
    })
  )

  it.effect("finds a JSON member of any name, or lists the members if there is none", () =>
    Effect.gen(function* () {
      const json = yield* openBytes(zipOf({ path: "a/brandedDownload.json", content: "{}" }))
      assert.strictEqual((yield* json.json).name, "brandedDownload.json")
      const csv = yield* openBytes(zipOf(food))
      const error = yield* Effect.flip(csv.json)
      assert.instanceOf(error, FileMissing)
      const nextStep = "Give a branded-foods release, JSON or CSV, with --file."
      assert.strictEqual(error.message, `release.zip has no *.json. It contains food.csv. ${nextStep}`)
      const empty = yield* Effect.flip((yield* openBytes(zipOf())).member("food.csv"))
      assert.strictEqual(empty.message, `release.zip has no food.csv. It is empty. ${nextStep}`)
    })
  )
})

layer(NodeServices.layer)("a zip that cannot be used", (it) => {
  it.effect.each([
    [
      "is not a zip",
      Buffer.from("<!DOCTYPE html><title>Moved</title>"),
      'it is not a zip: it begins with "<!DOCTYPE html><titl"'
    ],
    ["is empty", Buffer.alloc(0), "the file is empty"],
    [
      "was truncated in the middle",
      zipOf(food, { path: "big.csv", content: randomBytes(5000) }).subarray(0, 3000),
      "it was cut off: its list of members is missing"
    ]
  ] as const)("rejects a file that %s", ([, bytes, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openBytes(bytes))
      assert.instanceOf(error, ZipUnusable)
      assert.include(error.message, `release.zip cannot be read: ${problem}`)
      assert.include(error.message, advice)
    })
  )

  it.effect.each([
    "../food.csv",
    "a/../../food.csv",
    "/food.csv",
    "a\\..\\food.csv",
    "C:/food.csv",
    "c:food.csv",
    "../note.txt"
  ])("rejects a member whose path leads out of the folder: %s", (path) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openBytes(zipOf(food, { path, content: "x" })))
      assert.strictEqual(
        error.message,
        `${path} in release.zip cannot be read: its path leads out of the folder that it would be unpacked into. ${advice}`
      )
    })
  )

  it.effect.each([
    ["is encrypted", [{ ...food, flags: 1 }], "food.csv in release.zip cannot be read: it is encrypted"],
    [
      "is compressed with bzip2",
      [{ ...food, method: 12 }],
      "food.csv in release.zip cannot be read: it is compressed with bzip2"
    ],
    [
      "has the name of another member",
      [food, { ...food, path: "old/FOOD.csv" }],
      "old/FOOD.csv in release.zip cannot be read: food.csv has the same name"
    ],
    [
      "declares more than 20 GB",
      [{ ...food, bytes: 20_000_000_001 }],
      "it unpacks to 20000000001 bytes, more than the 20000000000 allowed"
    ],
    [
      "declares more than 200 times its packed size",
      [{ ...food, bytes: 100_000_001 }],
      "it unpacks to 100000001 bytes from "
    ]
  ] as const)("rejects a zip with a member that %s", ([, parts, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openBytes(zipOf(...parts)))
      assert.instanceOf(error, ZipUnusable)
      assert.include(error.message, problem)
    })
  )

  it.effect("rejects a zip with more members than allowed", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(openBytes(zipOf(food, { ...food, path: "b.csv" }), { ...zipLimits, members: 1 }))
      assert.include(error.message, "it has more than 1 members")
    })
  )
})

layer(NodeServices.layer)("a damaged member of a zip", (it) => {
  const content = randomBytes(100_000)
  const packed = deflateRawSync(content)
  const flipped = Buffer.from(packed)
  flipped[50_000] = (flipped[50_000] ?? 0) ^ 0xff

  it.effect.each([
    ["has a wrong checksum", { content, crc: 1 }, "its checksum (CRC-32) is wrong"],
    ["was changed", { content, packed: flipped }, "its checksum (CRC-32) is wrong"],
    [
      "ends too early",
      { content, packed: packed.subarray(0, 60_000) },
      "it ends too early: the zip was cut off or damaged"
    ],
    [
      "has fewer bytes than it declares",
      { content: "abc", bytes: 4 },
      "it ends after 3 of the 4 bytes that it declares"
    ],
    ["is not Deflate", { content, packed: Buffer.alloc(100, 0xff) }, "its compressed bytes are damaged"],
    [
      "unpacks to a million times what it declares",
      { content: Buffer.alloc(50_000_000), bytes: 50 },
      "it unpacks to more than the 50 bytes that it declares"
    ]
  ] as const)("fails while it reads a member that %s", ([, part, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(readMember(zipOf({ path: "food.csv", ...part })))
      assert.instanceOf(error, ZipUnusable)
      assert.include(error.message, `food.csv in release.zip cannot be read: ${problem}`)
    })
  )

  it.effect("fails to read a member whose offset is beyond the file, or not at a header", () =>
    Effect.gen(function* () {
      const bytes = zipOf(food)
      const offset = bytes.indexOf("PK\x01\x02") + 42
      bytes.writeUInt32LE(1_000_000, offset)
      const beyondFile = yield* Effect.flip(readMember(bytes))
      assert.instanceOf(beyondFile, ZipUnusable)
      bytes.writeUInt32LE(3, offset)
      const notAtHeader = yield* Effect.flip(readMember(bytes))
      assert.instanceOf(notAtHeader, ZipUnusable)
      assert.include(notAtHeader.message, "invalid local file header signature")
    })
  )
})
