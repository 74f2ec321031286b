import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { type Part, zipOf } from "@larder/test/support/pipelines/handmade-zips.ts"
import { Effect, FileSystem } from "effect"
import { BundleUnusable, unpackBundle } from "./bundle-files.ts"

const unpack = Effect.fnUntraced(function* (...parts: ReadonlyArray<Part>) {
  const fs = yield* FileSystem.FileSystem
  const file = `${yield* fs.makeTempDirectoryScoped({ prefix: "larder-hostile-" })}/bundle.zip`
  writeFileSync(file, zipOf(...parts))
  return yield* unpackBundle(file)
})

/** 640 MB of zeros. */
const bomb = Buffer.concat(Array.from({ length: 10 }, () => gzipSync(Buffer.alloc(64 << 20), { level: 1 })))

layer(NodeServices.layer)("a bundle from an untrusted sender", (it) => {
  it.effect("is unpacked into a separate folder, with names that every file system allows", () =>
    Effect.gen(function* () {
      const folder = yield* unpack({ path: "host/reports?q=1", content: "[]" })
      assert.deepStrictEqual(readdirSync(folder), ["host"])
      assert.strictEqual(readFileSync(`${folder}/host/reports%3Fq=1`, "utf8"), "[]")
    })
  )

  it.effect("may contain a .gz feed that is truncated or not compressed", () =>
    Effect.gen(function* () {
      const truncated = gzipSync("whole").subarray(0, 12)
      const folder = yield* unpack({ path: "a.gz", content: "plain" }, { path: "b.gz", content: truncated })
      assert.deepStrictEqual(readdirSync(folder).sort(), ["a.gz", "b.gz"])
    })
  )

  const hostile: ReadonlyArray<readonly [string, Part, RegExp]> = [
    ["whose path leads out of the folder", { path: "host/../../evil", content: "" }, /invalid relative path/],
    ["that is absolute", { path: "/tmp/evil", content: "" }, /absolute path/],
    ["on a Windows drive", { path: "C:/evil", content: "" }, /absolute path/],
    ["with backslashes", { path: "..\\evil", content: "" }, /invalid (relative path|characters)/],
    ["that is a link", { path: "host", content: "/etc", mode: 0o120777 }, /host is a link/],
    ["with more bytes than the limit", { path: "host", content: "x", bytes: 600 << 20 }, /more than any bundle/],
    ["that contains more than it declares", { path: "host", content: "x".repeat(9000), bytes: 10 }, /too many bytes/],
    ["that is compressed twice, and large", { path: "host.gz", content: bomb, method: 0 }, /more than any bundle/]
  ]
  it.effect.each(hostile)("is rejected if it contains a file %s", ([, part, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(unpack(part))
      assert.instanceOf(error, BundleUnusable)
      assert.match(error.message, problem)
    })
  )

  it.effect.each([
    ["two of its files have the same name", "host", "host"],
    ["a file has the name of a folder", "host", "host/reports"],
    ["a folder has the name of a file", "host/reports", "host"]
  ] as const)("is rejected if %s, and the message names the member", ([, first, second]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(unpack({ path: first, content: "1" }, { path: second, content: "2" }))
      assert.instanceOf(error, BundleUnusable)
      assert.strictEqual(error.problem, `${second} has the name of another file or folder in it`)
    })
  )

  it.effect("is rejected with one full stop per sentence if it is not a zip", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped({ prefix: "larder-hostile-" })}/bundle.zip`
      writeFileSync(file, "no zip at all, but long enough to look for the end of one")
      const { message } = yield* Effect.flip(unpackBundle(file))
      assert.match(message, /truncated\. --replay takes/)
    })
  )
})
