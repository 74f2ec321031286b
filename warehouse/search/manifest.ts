/**
 * `manifest.json`: what a folder of branded foods must hold. Opening the folder fails if a file differs from the
 * manifest, so a search never answers from an incomplete folder or from files of two builds.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { Schema } from "effect"
import { Bundle, FoodFilesDamaged } from "./files.ts"

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
const Sealed = Schema.Struct({ crc32: Schema.Int, manifest: Schema.String })
const decodeSealed = Schema.decodeUnknownOption(Schema.fromJsonString(Sealed))
const decodeManifest = Schema.decodeUnknownOption(Schema.fromJsonString(SearchManifest))
const decodeFormat = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ format: Schema.Int })))

/** The sample: pieces of 4 kB, evenly spread, including the first and the last. */
const sampleSize = 4096
const samples = 64

const withFile = <A>(folder: string, name: string, use: (fd: number, size: number) => A): A => {
  let fd: number
  try {
    fd = openSync(join(folder, name), "r")
  } catch (error) {
    throw new FoodFilesDamaged({
      file: name,
      reason: `cannot be read (${error instanceof Error ? error.message : error})`
    })
  }
  try {
    return use(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

const fill = (fd: number, into: Buffer, start: number) => {
  let n = 0
  for (let done = 0; done < into.length; done += n) {
    n = readSync(fd, into, done, into.length - done, start + done)
    if (n === 0) return done
  }
  return into.length
}

const sampled = (folder: string, name: string) =>
  withFile(folder, name, (fd, size) => {
    const piece = Buffer.alloc(Math.min(sampleSize, size))
    let crc = 0
    for (let i = 0; i < samples; i++) {
      fill(fd, piece, Math.floor(((size - piece.length) * i) / (samples - 1)))
      crc = crc32(piece, crc)
    }
    return { bytes: size, crc32: crc }
  })

const whole = (folder: string, name: string) =>
  withFile(folder, name, (fd, size) => {
    const bytes = Buffer.allocUnsafeSlow(size)
    fill(fd, bytes, 0)
    return { bytes, entry: { bytes: size, crc32: crc32(bytes) } }
  })

interface Contents
  extends Pick<typeof SearchManifest.Type, "run_id" | "foods" | "current" | "categories" | "nutrients"> {
  readonly bundles: ReadonlyArray<string>
  readonly pieces: ReadonlyArray<string>
}

/** Writes the manifest of a folder in which all other files are complete. */
export const writeSearchManifest = (folder: string, { bundles, pieces, ...told }: Contents) => {
  const manifest = JSON.stringify({
    format,
    ...told,
    bundles: Object.fromEntries(bundles.map((name) => [name, whole(folder, name).entry])),
    pieces: Object.fromEntries(pieces.map((name) => [name, sampled(folder, name)]))
  } satisfies typeof SearchManifest.Type)
  writeFileSync(join(folder, manifestFile), JSON.stringify({ crc32: crc32(manifest), manifest }), { flush: true })
  const fd = openSync(folder, "r")
  fsyncSync(fd)
  closeSync(fd)
}

export const readSearchManifest = (folder: string): typeof SearchManifest.Type => {
  const damaged = (reason: string) => new FoodFilesDamaged({ file: manifestFile, reason })
  const text = whole(folder, manifestFile).bytes.toString()
  const sealed = decodeSealed(text)
  if (sealed._tag === "None") throw damaged("is truncated, or is not a manifest")
  const { manifest } = sealed.value
  if (crc32(manifest) !== sealed.value.crc32) throw damaged("was changed")
  const written = decodeFormat(manifest)
  if (written._tag === "Some" && written.value.format !== format) {
    throw damaged(`was written in format ${written.value.format}, and this version reads format ${format}`)
  }
  const decoded = decodeManifest(manifest)
  if (decoded._tag === "None") throw damaged("has unexpected contents")
  return decoded.value
}

const compare = (name: string, expected: typeof Entry.Type | undefined, actual: typeof Entry.Type) => {
  if (expected === undefined) throw new FoodFilesDamaged({ file: name, reason: "is not in the manifest" })
  if (expected.bytes !== actual.bytes) {
    throw new FoodFilesDamaged({ file: name, reason: `has ${actual.bytes} bytes instead of ${expected.bytes}` })
  }
  if (expected.crc32 !== actual.crc32) {
    throw new FoodFilesDamaged({ file: name, reason: "was changed, or belongs to another build" })
  }
}

export const openBundle = (folder: string, manifest: typeof SearchManifest.Type, name: string) => {
  const { bytes, entry } = whole(folder, name)
  compare(name, manifest.bundles[name], entry)
  return new Bundle(name, bytes)
}

export const checkPieces = (folder: string, manifest: typeof SearchManifest.Type) => {
  for (const [name, expected] of Object.entries(manifest.pieces)) compare(name, expected, sampled(folder, name))
}
