/**
 * Reads and checks the member list of a release's zip, which is not trusted. Paths that lead out of the folder are
 * rejected. Members are at the root or in a folder, depending on the release. Files that macOS adds are ignored.
 */
import { Schema } from "effect"
import { type Entry, getFileNameLowLevel, validateFileName, type ZipFile } from "yauzl"

const maxNameLength = 200

/** Characters that control a terminal, or that change the order in which text is displayed. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escapeCharacter = (char: string) =>
  char.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Text from a file, quoted and escaped for display. */
export const quoteText = (text: string) => JSON.stringify(text).replaceAll(unprintable, escapeCharacter)

/** A name from the zip for display, quoted if it has unprintable characters. */
export const printableName = (name: string) => {
  const start = name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name
  return start.search(unprintable) === -1 ? start : quoteText(start)
}

export class ZipUnusable extends Schema.TaggedError<ZipUnusable>()("ZipUnusable", {
  zip: Schema.String,
  /** Null if the problem concerns the whole zip. */
  member: Schema.NullOr(Schema.String),
  problem: Schema.String
}) {
  override get message() {
    const what = this.member === null ? this.zip : `${printableName(this.member)} in ${this.zip}`
    return `${what} cannot be read: ${this.problem}. Download the release again, or give another one with --file.`
  }
}

export class FileMissing extends Schema.TaggedError<FileMissing>()("FileMissing", {
  /** The zip or the folder, as messages name it. */
  container: Schema.String,
  missing: Schema.String,
  /** Names of the files that are there. */
  contents: Schema.Array(Schema.String)
}) {
  override get message() {
    const contents = this.contents.length === 0 ? "is empty" : `contains ${this.contents.map(printableName).join(", ")}`
    return `${this.container} has no ${this.missing}. It ${contents}. Give a branded-foods release, JSON or CSV, with --file.`
  }
}

export const zipLimits = {
  /** The unpacked size of one member. The largest in all releases, food_nutrient.csv, has 1.7 GB. */
  memberBytes: 20e9,
  /** Unpacked to packed size, checked above `ratioFrom` bytes. Real ratios are 7 (CSV) to 16 (JSON). */
  ratio: 200,
  ratioFrom: 100e6,
  /** A release has about a dozen. */
  members: 10_000
}
export type ZipLimits = typeof zipLimits

export interface ZipMember {
  /** Base name, spelled as in the zip. */
  readonly name: string
  readonly path: string
  /** The declared unpacked size. More bytes are an error. */
  readonly bytes: number
  readonly entry: Entry
}

const stored = 0
export const deflated = 8
const methods: Readonly<Record<number, string>> = { 9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ" }

const isJunk = (path: string) =>
  path.endsWith("/") || path.startsWith("__MACOSX/") || path.includes("/__MACOSX/") || /(^|\/)\._[^/]*$/.test(path)

export const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1)

/** Only these are read, so only these must be readable and have unique names. */
const isRead = (name: string) => /\.(csv|json)$/i.test(name)

const findSizeProblem = ({ uncompressedSize: bytes, compressedSize: packed }: Entry, limits: ZipLimits) => {
  if (bytes > limits.memberBytes) return `it unpacks to ${bytes} bytes, more than the ${limits.memberBytes} allowed`
  if (bytes > limits.ratioFrom && bytes > packed * limits.ratio) {
    return `it unpacks to ${bytes} bytes from ${packed}: more than ${limits.ratio} times`
  }
  return undefined
}

const findEntryProblem = (entry: Entry, limits: ZipLimits) => {
  if (entry.isEncrypted()) return "it is encrypted"
  const { compressionMethod: method } = entry
  if (method !== stored && method !== deflated) {
    return `it is compressed with ${methods[method] ?? `method ${method}`}, and only Deflate can be read`
  }
  return findSizeProblem(entry, limits)
}

/** Members by base name. Throws `ZipUnusable` for the first problem of a member that would be read. */
export const readZipMembers = async (zip: string, opened: ZipFile, limits: ZipLimits) => {
  const members = new Map<string, ZipMember>()
  let entries = 0
  for await (const entry of opened.eachEntry()) {
    entries += 1
    if (entries > limits.members) {
      throw new ZipUnusable({ zip, member: null, problem: `it has more than ${limits.members} members` })
    }
    const { extraFields, fileNameRaw, generalPurposeBitFlag } = entry
    const path = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true)
    const unusable = (problem: string) => new ZipUnusable({ zip, member: path, problem })
    const leavesFolder = validateFileName(path) !== null || /^[a-z]:|\0/i.test(path)
    if (leavesFolder) throw unusable("its path leads out of the folder that it would be unpacked into")
    if (isJunk(path)) continue
    const name = baseName(path)
    const duplicate = members.get(name.toLowerCase())
    if (isRead(name)) {
      const problem = findEntryProblem(entry, limits)
      if (problem !== undefined) throw unusable(problem)
      if (duplicate !== undefined)
        throw unusable(`${printableName(duplicate.path)} has the same name, and one of them would be lost`)
    }
    if (duplicate === undefined) members.set(name.toLowerCase(), { name, path, bytes: entry.uncompressedSize, entry })
  }
  return [...members.values()]
}

/** Names of the JSON file in the releases so far, in any folder. */
const usualName = /^(brandedDownload|FoodData_Central)[^/]*\.json$/i

/** The member with the foods: by its name, which differs between releases, or otherwise the largest. */
export const findFoodsMember = (members: ReadonlyArray<ZipMember>) => {
  const candidates = members.filter(({ name }) => /\.json$/i.test(name)).toSorted((a, b) => b.bytes - a.bytes)
  return candidates.find(({ name }) => usualName.test(name)) ?? candidates[0]
}
