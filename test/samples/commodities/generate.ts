/**
 * Writes the sample payloads: `node test/samples/commodities/generate.ts [OUT_DIR]`, by default to
 * `pipelines/commodities/samples`, whose `README.md` says which numbers are facts. Fixed seed, no clock, no network: the
 * same facts result in the same payloads.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { milkPricePayloads } from "./milk-prices.ts"
import { type Payload, surveyPayloads } from "./mpr.ts"
import { otherMonthlySeries, regionalPayloads, regionalRanges } from "./regional.ts"
import { spotProducts } from "./spot.ts"
import { spotPayloads } from "./spot-reports.ts"
import { surveys } from "./survey.ts"

/** One payload at a time: the largest have about 4 MB of text. */
export function* samplePayloads(): Generator<Payload> {
  const survey = surveys()
  const regional = regionalRanges(survey)
  yield* surveyPayloads(survey)
  yield* milkPricePayloads(survey)
  yield* spotPayloads(spotProducts(survey), otherMonthlySeries(regional))
  yield* regionalPayloads(regional)
}

/** The header has neither a time nor a system name, so that the bytes do not depend on the machine. */
const gzipped = (body: string) => {
  const bytes = gzipSync(body, { level: 9 })
  bytes.fill(0, 4, 8)
  bytes[9] = 255
  return bytes
}

export const writeSamples = (folder: string) => {
  let files = 0
  let bytes = 0
  for (const { path, body } of samplePayloads()) {
    const file = join(folder, `${path}.gz`)
    const packed = gzipped(body)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, packed)
    files += 1
    bytes += packed.length
  }
  return { files, bytes }
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../../../pipelines/commodities/samples"))
  const { files, bytes } = writeSamples(folder)
  process.stdout.write(`${files} payloads, ${bytes} bytes, in ${folder}\n`)
}
