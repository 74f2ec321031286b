/** The bundled payloads of commodities equal what their generator writes: both are changed in one commit. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { writeSamples } from "../samples/commodities/generate.ts"
import { repository } from "../support/repository.ts"

/** Payloads are compared unpacked: another zlib may compress the same bytes differently. */
const unpack = (file: string) => {
  const bytes = readFileSync(file)
  return file.endsWith(".gz") ? gunzipSync(bytes) : bytes
}

const payloadsBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "README.md")
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted()

describe("the bundled samples of commodities", () => {
  const bundled = path.join(repository, "pipelines/commodities/samples")
  let written = ""
  beforeAll(() => {
    written = mkdtempSync(path.join(tmpdir(), "larder-samples-"))
    writeSamples(written)
  })
  afterAll(() => rmSync(written, { recursive: true, force: true }))

  it("have the files that the generator writes, and no others", () => {
    assert.deepStrictEqual(payloadsBelow(bundled), payloadsBelow(written))
  })
  it("have the content that the generator writes", () => {
    for (const file of payloadsBelow(written)) {
      assert.isTrue(
        unpack(path.join(bundled, file)).equals(unpack(path.join(written, file))),
        `${file} differs: run test/samples/commodities/generate.ts and commit its output`
      )
    }
  })
})
