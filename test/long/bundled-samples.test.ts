/** The bundled payloads equal what their generators write: both are changed in one commit. */
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

/** Archives are compared by their content: another zlib may compress the same bytes differently. */
const unzip = async (file: string): Promise<Unpacked> => {
  const members = new Map<string, Buffer>()
  const zip = await openPromise(file)
  for await (const entry of zip.eachEntry()) {
    members.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  }
  return members
}
const unpack = async (file: string): Promise<Unpacked> => {
  if (file.endsWith(".zip")) return unzip(file)
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

  it("have the files that the generator writes, and no others", () => {
    assert.deepStrictEqual(payloadsBelow(bundled), payloadsBelow(written))
  })
  it("have the content that the generator writes", async () => {
    for (const file of payloadsBelow(written)) {
      const [ours, theirs] = [await unpack(path.join(bundled, file)), await unpack(path.join(written, file))]
      const differing = [...theirs.values()].findIndex(
        (bytes, index) => !bytes.equals([...ours.values()][index] ?? Buffer.of())
      )
      assert.strictEqual(
        differing,
        -1,
        `${file} differs: run test/samples/${pipeline}/generate.ts and commit its output`
      )
      assert.strictEqual(ours.size, theirs.size)
    }
  })
})
