/** `manifest.json` has the checksum of each file. A folder with a file that was changed, or of another build, is rejected. */
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { Schema } from "effect"
import { Bundle, FoodFilesDamaged, PieceFile } from "./files.ts"

/** Incremented whenever the meaning of a file in the folder changes. */
const format = 3
const manifestFile = "manifest.json"

export const KnownNutrient = Schema.Struct({
  nutrient_id: Schema.Int,
  number: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  unit: Schema.NullOr(Schema.String)
})
const Entry = Schema.Struct({ bytes: Schema.Int, crc32: Schema.Int })
const SearchManifest = Schema.Struct({
  format: Schema.Int,
  /** The last run that changed a label; null if there is none. */
  run_id: Schema.NullOr(Schema.String),
  foods: Schema.Int,
  current: Schema.Int,
  /** JSON of the categories endpoint. */
  categories: Schema.String,
  nutrients: Schema.Array(KnownNutrient),
  /** Loaded whole; the checksum covers all bytes. */
  bundles: Schema.Record(Schema.String, Entry),
  /** Read in pieces; the checksum covers a sample. */
  pieces: Schema.Record(Schema.String, Entry)
})
type SearchManifest = typeof SearchManifest.Type
const Checksummed = Schema.Struct({ crc32: Schema.Int, manifest: Schema.String })
const decodeChecksummed = Schema.decodeUnknownOption(Schema.fromJsonString(Checksummed))
const decodeManifest = Schema.decodeUnknownOption(Schema.fromJsonString(SearchManifest))
const decodeFormat = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ format: Schema.Int })))

/** The sample: pieces of 4 kB, evenly spread, including the first and the last. */
const sampleBytes = 4096
const samples = 64

const checksumSample = (folder: string, name: string) => {
  const file = new PieceFile(join(folder, name))
  try {
    const piece = Buffer.alloc(Math.min(sampleBytes, file.size))
    let crc = 0
    for (let i = 0; i < samples; i++) {
      file.read(piece, Math.floor(((file.size - piece.length) * i) / (samples - 1)), piece.length)
      crc = crc32(piece, crc)
    }
    return { bytes: file.size, crc32: crc }
  } finally {
    file.close()
  }
}

const readWhole = (folder: string, name: string) => {
  const bytes = readFileSync(join(folder, name))
  return { bytes, entry: { bytes: bytes.length, crc32: crc32(bytes) } }
}

/** Writes the manifest of a folder in which all other files are complete. */
export const writeSearchManifest = (
  folder: string,
  contents: Omit<SearchManifest, "format" | "bundles" | "pieces">,
  bundles: ReadonlyArray<string>,
  pieces: ReadonlyArray<string>
) => {
  const manifest = JSON.stringify({
    format,
    ...contents,
    bundles: Object.fromEntries(bundles.map((name) => [name, readWhole(folder, name).entry])),
    pieces: Object.fromEntries(pieces.map((name) => [name, checksumSample(folder, name)]))
  } satisfies SearchManifest)
  writeFileSync(join(folder, manifestFile), JSON.stringify({ crc32: crc32(manifest), manifest }), { flush: true })
  const fd = openSync(folder, "r")
  fsyncSync(fd)
  closeSync(fd)
}

export const readSearchManifest = (folder: string): SearchManifest => {
  const damaged = (reason: string) => new FoodFilesDamaged({ file: manifestFile, reason })
  const text = readWhole(folder, manifestFile).bytes.toString()
  const checksummed = decodeChecksummed(text)
  if (checksummed._tag === "None") throw damaged("is truncated, or is not a manifest")
  const { manifest } = checksummed.value
  if (crc32(manifest) !== checksummed.value.crc32) throw damaged("was changed")
  const written = decodeFormat(manifest)
  if (written._tag === "Some" && written.value.format !== format) {
    throw damaged(`was written in format ${written.value.format}, and this version reads format ${format}`)
  }
  const decoded = decodeManifest(manifest)
  if (decoded._tag === "None") throw damaged("has unexpected contents")
  return decoded.value
}

const requireSame = (name: string, expected: typeof Entry.Type | undefined, actual: typeof Entry.Type) => {
  if (expected === undefined) throw new FoodFilesDamaged({ file: name, reason: "is not in the manifest" })
  if (expected.bytes !== actual.bytes) {
    throw new FoodFilesDamaged({ file: name, reason: `has ${actual.bytes} bytes instead of ${expected.bytes}` })
  }
  if (expected.crc32 !== actual.crc32) {
    throw new FoodFilesDamaged({ file: name, reason: "was changed, or belongs to another build" })
  }
}

export const openBundle = (folder: string, manifest: SearchManifest, name: string) => {
  const { bytes, entry } = readWhole(folder, name)
  requireSame(name, manifest.bundles[name], entry)
  return new Bundle(name, bytes)
}

export const checkPieces = (folder: string, manifest: SearchManifest) => {
  for (const [name, expected] of Object.entries(manifest.pieces))
    requireSame(name, expected, checksumSample(folder, name))
}
