/** Compression of large bodies, by the caller's `Accept-Encoding`. Small ones are not worth the time. */
import { promisify } from "node:util"
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib"

export const smallestCompressed = 4096

const coders = {
  zstd: promisify(zstdCompress),
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 6 })
}
type Coding = keyof typeof coders
const preferred: ReadonlyArray<Coding> = ["zstd", "br", "gzip"]

/**
 * The coding that the caller likes best among ours; undefined where it accepts none. `*` allows any, and gets gzip, which
 * every reader knows; `x-gzip` is its old name.
 */
export const codingFor = (acceptEncoding: string | null): Coding | undefined => {
  if (acceptEncoding === null) return undefined
  const weights = new Map<string, number>()
  for (const part of acceptEncoding.toLowerCase().split(",")) {
    const [coding = "", ...parameters] = part.split(";").map((text) => text.trim())
    const weight = parameters.find((parameter) => parameter.startsWith("q="))
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)) || 0)
  }
  const gzipped = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*")
  const weightOf = (coding: Coding) => (coding === "gzip" ? gzipped : weights.get(coding)) ?? 0
  const best = preferred.toSorted((a, b) => weightOf(b) - weightOf(a))[0]
  return best !== undefined && weightOf(best) > 0 ? best : undefined
}

export const compress = (body: string, coding: Coding): Promise<Buffer> => coders[coding](Buffer.from(body))
