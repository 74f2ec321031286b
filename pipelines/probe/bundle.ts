/**
 * Writes what a probe read as a zip that can be sent to a maintainer and replayed: recordings of the parts that were
 * read, laid out as `replay.ts` reads them; refusals beside them as `<name>.refused.json`; and `probe.json` with
 * the verdicts, the response headers and the lists of zip members. Keys are removed. Names leave out the date window,
 * because a replay asks for none.
 */
import { readFile, rename, rm, writeFile } from "node:fs/promises"
import { buffer } from "node:stream/consumers"
import { version } from "@larder/schemas"
import { Clock, Effect, Path, Schema } from "effect"
import { ZipFile } from "yazl"
import { fetchesOf as fetchesOfRun } from "../run/archive/archived-runs.ts"
import { type Fetch, hasPayload } from "../run/archive/fetch-list.ts"
import { reasonOf } from "../run/files/causes.ts"
import { encodeRefusal } from "../run/origins/recorded-refusals.ts"
import { recordingName, refusedSuffix, toldSuffix } from "../run/origins/replay.ts"
import { listAddress } from "../storefronts/source/operator-files.ts"
import { foodsIn, type SeenZip } from "./branded-foods.ts"
import { type Probed, probeRun } from "./probe.ts"
import { type Redaction, redaction } from "./redaction.ts"
import type { FeedVerdict } from "./verdict.ts"
import type { MemberHead } from "./zip-heads.ts"

class BundleUnwritable extends Schema.TaggedError<BundleUnwritable>()("BundleUnwritable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The bundle ${this.file} cannot be written: ${reasonOf(this.cause)}.`
  }
}

/** Limit for one recording. Weeks of a report take some hundred kilobytes, the beginning of a store's file 4 MB. */
const mostBytesOfRecording = 32 << 20
/** Limit for all recordings. A replay refuses bundles of more than twice this size. */
const mostBytes = 256 << 20
/** File systems allow 255 bytes in a name, and a suffix may be added to this one. */
const mostBytesOfName = 220

/** 1980-01-01, the first date that a zip can hold. `probe.json` says when the bundle was made. */
const noTime = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true }

interface Entry {
  readonly name: string
  readonly bytes: Buffer
}

const zipped = async (entries: ReadonlyArray<Entry>) => {
  const zip = new ZipFile()
  for (const { bytes, name } of entries) zip.addBuffer(bytes, name, noTime)
  zip.end()
  return buffer(zip.outputStream)
}

/** Cuts after the last line end outside quotes. */
const wholeRecords = (head: Buffer) => {
  let end = 0
  let isQuoted = false
  head.forEach((byte, at) => {
    if (byte === 0x22) isQuoted = !isQuoted
    else if (byte === 0x0a && !isQuoted) end = at + 1
  })
  return head.subarray(0, end)
}

const firstFoods = (member: MemberHead) => {
  try {
    const lines = foodsIn(member).map((food) => JSON.stringify(food))
    return Buffer.from(`{"BrandedFoods":[\n${lines.join(",\n")}\n]}\n`)
  } catch {
    return member.head // not a list of foods: it is replayed unchanged
  }
}

/** The member, cut after its first complete records. */
const shortened = (member: MemberHead) => {
  if (member.head.length >= member.bytes) return member.head
  return /\.json$/i.test(member.name) ? firstFoods(member) : wholeRecords(member.head)
}

const json = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`)

/** For commodities, the parameter `q` holds the date window and nothing else. */
const nameOf = (url: string, pipeline: string) =>
  recordingName(pipeline === "commodities" ? url.replace(/([?&])q=[^&]*&?/, "$1").replace(/[?&]$/, "") : url)

const fetchesOf = ({ folder }: Probed) => Effect.orDie(fetchesOfRun(folder, probeRun))

const isRecordable = (name: string) => name.split("/").every((part) => Buffer.byteLength(part) <= mostBytesOfName)

/** Leaves out `date`: a replay compares no clocks. */
const toldBeside = ({ told = {} }: Fetch) => Object.entries(told).filter(([key]) => key !== "date")

const recordingsOf = Effect.fnUntraced(function* (probed: Probed) {
  const path = yield* Path.Path
  const entries: Array<Entry> = []
  const fetches: Array<unknown> = []
  for (const line of yield* fetchesOf(probed)) {
    const recording = nameOf(line.url, probed.pipeline)
    if (!hasPayload(line)) {
      const refusal = encodeRefusal(line.url, line.refusal)
      entries.push({ name: recording + refusedSuffix, bytes: json(refusal) })
      fetches.push({ url: line.url, recording, refusal })
      continue
    }
    const { content_type, etag, fetched_at, final_url, last_modified, sha256, status, told, url } = line
    const isKept = line.bytes <= mostBytesOfRecording && isRecordable(recording)
    const about = { content_type, etag, last_modified, told, bytes: line.bytes, sha256 }
    fetches.push({ url, final_url, fetched_at, status, ...about, recording: isKept ? recording : null })
    if (!isKept) continue
    const payload = yield* Effect.orDie(Effect.tryPromise(() => readFile(path.join(probed.folder, line.file))))
    entries.push({ name: recording, bytes: payload })
    const besides = toldBeside(line)
    if (besides.length > 0) entries.push({ name: recording + toldSuffix, bytes: json(Object.fromEntries(besides)) })
  }
  return { entries, fetches }
})

const zipOf = ({ members, refusal, url }: SeenZip, { bytes: clean }: Redaction) =>
  Effect.promise(async (): Promise<Entry> => {
    const name = recordingName(url)
    if (refusal !== undefined) return { name: name + refusedSuffix, bytes: json(encodeRefusal(url, refusal)) }
    return {
      name,
      bytes: await zipped(members.map((member) => ({ name: member.path, bytes: clean(shortened(member)) })))
    }
  })

const foldersOf = (name: string) => {
  const parts = name.split("/").slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"))
}

/**
 * The first recordings that fit into the limit. Of two with the same name, the later one counts. A refusal beside a
 * payload and a recording in the place of a folder are left out.
 */
const fitting = (entries: ReadonlyArray<Entry>) => {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const folders = new Set(entries.flatMap(({ name }) => foldersOf(name)))
  let left = mostBytes
  return [...byName.values()].filter(({ bytes, name }) => {
    if (name.endsWith(refusedSuffix) && byName.has(name.slice(0, -refusedSuffix.length))) return false
    if (folders.has(name)) return false
    left -= bytes.length
    return left >= 0
  })
}

const listIn = Effect.fnUntraced(function* (probed: ReadonlyArray<Probed>) {
  const path = yield* Path.Path
  for (const one of probed) {
    const list = (yield* fetchesOf(one)).filter(hasPayload).find(({ url }) => url === listAddress)
    if (list !== undefined) {
      return yield* Effect.orDie(Effect.tryPromise(() => readFile(path.join(one.folder, list.file), "utf8")))
    }
  }
  return undefined
})

/** Writes the file, complete or not at all, and returns the number of recordings in it. */
export const writeProbeBundle = Effect.fn("probe.writeBundle")(function* (
  file: string,
  probed: ReadonlyArray<Probed>,
  verdicts: ReadonlyArray<FeedVerdict>
) {
  const clean = yield* redaction(yield* listIn(probed))
  const cleaned = ({ bytes, name }: Entry) => ({ name: clean.text(name), bytes: clean.bytes(bytes) })
  const read = yield* Effect.forEach(probed, recordingsOf)
  const seen = probed.flatMap(({ zips }) => zips)
  const zips = yield* Effect.forEach(seen, (zip) => zipOf(zip, clean))
  const recordings = fitting([...zips, ...read.flatMap(({ entries }) => entries).map(cleaned)])
  const made_at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const about = {
    larder: version,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    made_at,
    feeds: verdicts,
    fetches: read.flatMap(({ fetches }) => fetches),
    zips: seen.map(({ listed, url }) => ({ url, members: listed }))
  }
  const entries = [cleaned({ name: "probe.json", bytes: json(about) }), ...recordings]
  const part = `${file}.part`
  yield* Effect.tryPromise({
    try: async () => {
      try {
        await writeFile(part, await zipped(entries), { flag: "wx" })
        await rename(part, file)
      } catch (cause) {
        await rm(part, { force: true })
        throw cause
      }
    },
    catch: (cause) => new BundleUnwritable({ file, cause })
  })
  return recordings.length
})
