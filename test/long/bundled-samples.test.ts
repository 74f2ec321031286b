/** The bundled payloads are what their generators write: a change to one is committed with the other. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { buffer } from "node:stream/consumers"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openPromise } from "yauzl"
import * as brandedFoods from "../samples/branded-foods/generate.ts"
import * as commodities from "../samples/commodities/generate.ts"
import * as storefronts from "../samples/storefronts/generate.ts"
import { repository } from "../support/repository.ts"

type Unpacked = ReadonlyMap<string, Buffer>

/** Archives are compared by what is in them: another zlib may pack the same bytes differently. */
const unzipped = async (file: string): Promise<Unpacked> => {
  const members = new Map<string, Buffer>()
  const zip = await openPromise(file)
  for await (const entry of zip.eachEntry()) {
    members.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  }
  return members
}
const unpacked = async (file: string): Promise<Unpacked> => {
  if (file.endsWith(".zip")) return unzipped(file)
  const bytes = readFileSync(file)
  return new Map([[file, file.endsWith(".gz") ? gunzipSync(bytes) : bytes]])
}

const payloadsBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "README.md")
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted()

describe.each([
  { pipeline: "commodities", write: commodities.writeSamples },
  { pipeline: "branded-foods", write: brandedFoods.writeSamples },
  { pipeline: "storefronts", write: storefronts.writeSamples }
])("the bundled samples of $pipeline", ({ pipeline, write }) => {
  const bundled = path.join(repository, "pipelines", pipeline, "samples")
  let written = ""
  beforeAll(async () => {
    written = mkdtempSync(path.join(tmpdir(), "larder-samples-"))
    await write(written)
  })
  afterAll(() => rmSync(written, { recursive: true, force: true }))

  it("have the same files as the generator writes, and no others", () => {
    assert.deepStrictEqual(payloadsBelow(bundled), payloadsBelow(written))
  })
  it("have the same content as the generator writes", async () => {
    for (const file of payloadsBelow(written)) {
      const [ours, theirs] = [await unpacked(path.join(bundled, file)), await unpacked(path.join(written, file))]
      const differing = [...theirs.values()].findIndex(
        (bytes, index) => !bytes.equals([...ours.values()][index] ?? Buffer.of())
      )
      assert.strictEqual(
        differing,
        -1,
        `${file} differs: run test/samples/${pipeline}/generate.ts and commit what it writes`
      )
      assert.strictEqual(ours.size, theirs.size)
    }
  })
})
