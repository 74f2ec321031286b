/** Expected rows of a pipeline's mapping for its fixtures: a file for each version of the mapping. */
import assert from "node:assert/strict"
import { existsSync, readFileSync, writeFileSync } from "node:fs"

const record = "LARDER_RECORD_GOLDEN=1 npx vitest run mapping-version && npm run format"

/** Compares the rows with `<version>.json` in the folder. Records that file if it is missing; never overwrites it. */
export const compareWithGolden = (folder: URL, version: number, rows: unknown) => {
  const file = new URL(`${version}.json`, folder)
  if (!existsSync(file)) {
    assert(process.env.LARDER_RECORD_GOLDEN === "1", `${file.pathname} is missing. Record it: ${record}`)
    writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`)
  }
  assert.deepEqual(
    JSON.parse(JSON.stringify(rows)),
    JSON.parse(readFileSync(file, "utf8")),
    `The mapping returns different rows than ${file.pathname}. If that is intended, raise mappingVersion, and record: ${record}`
  )
}
