import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { openPromise } from "yauzl"
import { sampleArchives, writeSampleFiles } from "./generate.ts"
import { zipOf } from "./generator/zip.ts"

const unzipped = async (path: string) => {
  const zip = await openPromise(path)
  const entries = new Map<string, Buffer>()
  for await (const entry of zip.eachEntry()) {
    const bytes = await buffer(await zip.openReadStreamPromise(entry))
    entries.set(entry.fileName, bytes)
  }
  return entries
}

describe("sample release: committed and generated", () => {
  let folder = ""
  let files: Awaited<ReturnType<typeof writeSampleFiles>>
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "larder-sample-release-"))
    files = await writeSampleFiles(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })) // a file may still be on its way out

  it.each(["csv", "json"] as const)("has in the %s archive what the generator writes", async (form) => {
    const committed = await unzipped(join(import.meta.dirname, sampleArchives[form]))
    assert.deepStrictEqual(
      [...committed.keys()],
      files[form].map(({ name }) => name)
    )
    for (const { file, name } of files[form])
      assert.isTrue(
        committed.get(name)?.equals(readFileSync(file)),
        `${name} differs: run generate.ts and commit what it writes`
      )
  })
  it("packs the same bytes whatever the clock says", async () => {
    const [first, second] = [join(folder, "first.zip"), join(folder, "second.zip")]
    await zipOf(files.json, first, 1)
    await zipOf(files.json, second, 1)
    assert.isTrue(readFileSync(first).equals(readFileSync(second)))
  })
  it("fails when a file is missing", async () => {
    const failure = await zipOf([{ file: join(folder, "none.csv"), name: "none.csv" }], join(folder, "none.zip")).then(
      () => "",
      (cause: unknown) => `${cause}`
    )
    assert.include(failure, "none.csv")
  })
})
