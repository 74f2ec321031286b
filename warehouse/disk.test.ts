import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { readPieces } from "./disk.ts"

const folder = mkdtempSync(path.join(tmpdir(), "larder-disk-"))
afterAll(() => rmSync(folder, { recursive: true }))

const write = (bytes: Buffer) => {
  const file = path.join(folder, `${bytes.length}`)
  writeFileSync(file, bytes)
  return file
}

describe("the pieces of a file", () => {
  it.each([0, 1, 2 ** 20, 2 ** 20 + 1, 5_000_000])("are all of its %i bytes", async (length) => {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => at % 251))
    const pieces: Array<Buffer> = []
    for await (const piece of readPieces(write(bytes))) pieces.push(Buffer.from(piece))
    assert.isTrue(Buffer.concat(pieces).equals(bytes))
  })

  it("share one buffer", async () => {
    const buffers = new Set<ArrayBufferLike>()
    for await (const piece of readPieces(write(Buffer.alloc(3 << 20)))) buffers.add(piece.buffer)
    assert.strictEqual(buffers.size, 1)
  })
})
