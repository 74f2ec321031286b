/**
 * Writes the sample payloads: `node test/samples/commodities/generate.ts [OUT_DIR]`, by default to
 * `pipelines/commodities/samples`, whose `README.md` lists the numbers that are facts. Fixed seed, no clock, no network: the
 * same facts result in the same payloads.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { makeMilkPricePayloads } from "./milk-prices.ts"
import { makeSurveyPayloads, type Payload } from "./mpr.ts"
import { drawRegionalRanges, makeOtherMonthlySeries, makeRegionalPayloads } from "./regional.ts"
import { makeSpotProducts } from "./spot.ts"
import { makeSpotPayloads } from "./spot-reports.ts"
import { makeSurveys } from "./survey.ts"

/** One payload at a time: the largest have about 4 MB of text. */
export function* makeSamplePayloads(): Generator<Payload> {
  const survey = makeSurveys()
  const regional = drawRegionalRanges(survey)
  yield* makeSurveyPayloads(survey)
  yield* makeMilkPricePayloads(survey)
  yield* makeSpotPayloads(makeSpotProducts(survey), makeOtherMonthlySeries(regional))
  yield* makeRegionalPayloads(regional)
}

/** The header has neither a time nor a system name, so that the bytes do not depend on the machine. */
const gzip = (body: string) => {
  const bytes = gzipSync(body, { level: 9 })
  bytes.fill(0, 4, 8)
  bytes[9] = 255
  return bytes
}

export const writeSamples = (folder: string) => {
  let files = 0
  let bytes = 0
  for (const { path, body } of makeSamplePayloads()) {
    const file = join(folder, `${path}.gz`)
    const packed = gzip(body)
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
