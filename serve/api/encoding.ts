/** Compression of large bodies, by the caller's `Accept-Encoding`. Compressing small ones is not worth the time. */
import { promisify } from "node:util"
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib"
import { parseAccept } from "hono/utils/accept"

export type Bytes = Uint8Array<ArrayBuffer>

export const minCompressedBytes = 4096

/** Levels at which five megabytes of prices take 20 to 40 ms; higher ones save a few percent and take twice as long. */
const coders = {
  zstd: (body: Bytes) => promisify(zstdCompress)(body),
  br: (body: Bytes) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body: Bytes) => promisify(gzip)(body, { level: 4 })
}
export type Coding = keyof typeof coders
const preferred: ReadonlyArray<Coding> = ["zstd", "br", "gzip"]

/** The best accepted coding, if any. `*` gets gzip, which every client supports; `x-gzip` is the old name of gzip. */
export const chooseCoding = (acceptEncoding: string | null): Coding | undefined => {
  if (acceptEncoding === null) return undefined
  const weights = new Map(parseAccept(acceptEncoding.toLowerCase()).map(({ q, type }) => [type, q]))
  const gzipWeight = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*")
  const getWeight = (coding: Coding) => (coding === "gzip" ? gzipWeight : weights.get(coding)) ?? 0
  const best = preferred.toSorted((a, b) => getWeight(b) - getWeight(a))[0]
  return best !== undefined && getWeight(best) > 0 ? best : undefined
}

export const compress = (body: Bytes, coding: Coding): Promise<Bytes> => coders[coding](body)

/** A body that all callers share: in memory once, plus once for each content coding that was requested. */
export const makeSharedBody = (text: string) => {
  const plain = Buffer.from(text)
  const compressed = new Map<Coding, Promise<Bytes>>()
  const compressOnce = (coding: Coding) => {
    const bytes = compress(plain, coding)
    compressed.set(coding, bytes)
    bytes.catch(() => compressed.delete(coding)) // the next caller tries again
    return bytes
  }
  return {
    encode: async (acceptEncoding: string | null) => {
      const coding = plain.length < minCompressedBytes ? undefined : chooseCoding(acceptEncoding)
      if (coding === undefined) return { bytes: plain, coding }
      return { bytes: await (compressed.get(coding) ?? compressOnce(coding)), coding }
    }
  }
}

export type SharedBody = ReturnType<typeof makeSharedBody>
