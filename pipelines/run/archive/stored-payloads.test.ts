import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import path from "node:path"
import { buffer } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import {
  assignUrls,
  compressedName,
  filesIn,
  plainName,
  publishRun,
  sha256Of
} from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, FileSystem } from "effect"
import { compressors } from "hyparquet-compressors"
import { openPayload } from "./stored-payloads.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))

const read = (folder: string, sha256: string) =>
  Effect.flatMap(openPayload(folder, sha256), (bytes) => Effect.promise(() => buffer(bytes)))

const text = (bytes: number) => Buffer.alloc(bytes, "a line of a feed, 12.50\n")
const head = 65_536

layer(NodeServices.layer, { excludeTestServices: true })("a payload in the archive", (it) => {
  /** Written with the Zstandard 1.5.7 of Node 24.21. If this fails, a Node has left archives unreadable. */
  it.effect("that this version stored is read by every later one", () =>
    Effect.gen(function* () {
      const archive = path.join(import.meta.dirname, "example-archive")
      const lines = Array.from({ length: 10_000 }, (_, n) => `week ${n % 52},butter,${(n * 37) % 1000}\n`)
      const payload = Buffer.from(lines.join(""))
      assert.deepStrictEqual(filesIn(archive), [compressedName(payload)])
      assert.isTrue(payload.equals(yield* read(archive, sha256Of(payload))))
    })
  )

  it.effect.each([
    ["text", "compressed", text(5000)],
    ["text of several chunks", "compressed", text(3_000_000)],
    ["one byte less than 16 MiB", "compressed", text((16 << 20) - 1)],
    ["a gzip", "plain", gzipSync(randomBytes(200_000))],
    ["nothing", "plain", Buffer.alloc(0)],
    ["a few bytes", "plain", Buffer.from('{"results":[]}')],
    ["random bytes, then text", "plain", Buffer.concat([randomBytes(head), text(head)])],
    ["text, then random bytes", "compressed", Buffer.concat([text(head), randomBytes(head)])]
  ] as const)("is read as it was fetched: %s, which is stored %s", ([, form, payload]) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* publishRun(folder, "run-1", assignUrls([payload]))
      assert.deepStrictEqual(filesIn(folder), [form === "plain" ? plainName(payload) : compressedName(payload)])
      assert.isTrue(payload.equals(yield* read(folder, sha256Of(payload))))
    })
  )

  it.effect("is read by another implementation of Zstandard, if it is compressed", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const payloads = [text(5000), text(3_000_000), Buffer.concat([text(head), randomBytes(300_000), text(head)])]
      yield* publishRun(folder, "run-1", assignUrls(payloads))
      for (const payload of payloads) {
        const file = readFileSync(`${folder}/${compressedName(payload)}`)
        const decompressed = compressors.ZSTD?.(file, payload.length)
        assert.strictEqual(sha256Of(decompressed ?? ""), sha256Of(payload))
      }
    })
  )

  it.effect("is a Zstandard frame with its size and a checksum, if it is compressed", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const payload = text(3_000_000)
      yield* publishRun(folder, "run-1", assignUrls([payload]))
      const frame = readFileSync(`${folder}/${compressedName(payload)}`)
      assert.strictEqual(frame.readUInt32LE(0), 0xfd2fb528)
      assert.strictEqual(frame.readUInt8(4) & 0b1100_0100, 0b1000_0100) // a size of four bytes, and a checksum
      assert.strictEqual(frame.readUInt32LE(6), payload.length) // after the byte with the size of the window
    })
  )

  it.effect("of 130 MB is stored, compressed and read in less than 300 MB", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const script = `
        import { createReadStream, truncateSync, writeFileSync } from "node:fs"
        import * as NodeServices from "@effect/platform-node/NodeServices"
        import { Effect, Stream } from "effect"
        import { Origin } from "../origins/origin.ts"
        import { Archive } from "./archive.ts"
        import { openPayload } from "./stored-payloads.ts"
        const [folder] = process.argv.slice(1)
        const file = folder + "/payload"
        writeFileSync(file, "")
        truncateSync(file, 130e6)
        const archive = folder + "/raw"
        const origin = Origin.of({
          kind: "live",
          open: ({ url }) => Effect.succeed({
            status: 200, final_url: url, content_type: null, etag: null, last_modified: null, exact: true, from: 0,
            total: 130e6, body: Stream.fromAsyncIterable(createReadStream(file), (cause) => cause)
          }),
          list: () => Effect.undefined,
          retry: (attempt) => attempt
        })
        const store = Effect.gen(function* () {
          const { compressLarge, fetch } = yield* Archive
          const { sha256 } = yield* fetch({ url: "https://source.test/", accept: "*/*" })
          yield* compressLarge
          return sha256
        }).pipe(
          Effect.provide(Archive.layer({ folder: archive, run_id: "run-1", pipeline: "shops", days: null })),
          Effect.provideService(Origin, origin)
        )
        const run = Effect.flatMap(store, (sha256) => openPayload(archive, sha256)).pipe(
          Effect.flatMap((pieces) => Effect.promise(async () => {
            let bytes = 0
            for await (const piece of pieces) bytes += piece.length
            return bytes
          }))
        )
        const bytes = await Effect.runPromise(run.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
        console.log(JSON.stringify({ bytes, megabytes: process.resourceUsage().maxRSS / 1024 }))`
      const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script, folder], {
        cwd: import.meta.dirname,
        encoding: "utf8"
      })
      assert.strictEqual(status, 0, stderr)
      const { bytes, megabytes } = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") // after the log
      assert.deepStrictEqual(
        [bytes, filesIn(`${folder}/raw`).map((name) => path.extname(name))],
        [130_000_000, [".zst"]]
      )
      assert.isBelow(megabytes, 300)
    })
  )
})
