/**
 * Writes what a probe read as a zip for a maintainer, which `replay.ts` can replay: recordings, refusals as
 * `<name>.refused.json`, and `probe.json` with the verdicts, the response headers and the lists of zip members. Keys
 * are removed. Names omit the window of the newest days, because a replay
 * requests none.
 */

import { rename, rm, writeFile } from "node:fs/promises"
import { buffer } from "node:stream/consumers"
import { version } from "@larder/schemas"
import { Clock, Effect, Schema } from "effect"
import { ZipFile } from "yazl"
import { readFetches } from "../run/archive/archived-runs.ts"
import { hasPayload } from "../run/archive/fetch-list.ts"
import { openPayload } from "../run/archive/stored-payloads.ts"
import { reasonOf } from "../run/files/causes.ts"
import { encodeRefusal } from "../run/origins/origin.ts"
import { extraValuesSuffix, recordingName, refusedSuffix } from "../run/origins/replay.ts"
import { listAddress } from "../storefronts/source/operator-files.ts"
import { type ProbedZip, parseFoods } from "./branded-foods.ts"
import { type ProbedPipeline, probeRunId } from "./probe.ts"
import { makeRedaction, type Redaction } from "./redaction.ts"
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

/** Weeks of a report have a few hundred kilobytes, the beginning of a store's file 4 MB. */
const maxRecordingBytes = 32 << 20
/** For all recordings. A replay rejects bundles of more than twice this size. */
const maxBundleBytes = 256 << 20
/** File systems allow 255 bytes in a name, and a suffix may be added to this one. */
const maxNameBytes = 220

/** 1980-01-01, the first possible date in a zip. `probe.json` has the time of the bundle. */
const noTime = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true }

interface BundleEntry {
  readonly name: string
  readonly bytes: Buffer
}

const zipEntries = async (entries: ReadonlyArray<BundleEntry>) => {
  const zip = new ZipFile()
  for (const { bytes, name } of entries) zip.addBuffer(bytes, name, noTime)
  zip.end()
  return buffer(zip.outputStream)
}

/** Truncates after the last line end outside quotes. */
const keepWholeRecords = (head: Buffer) => {
  let end = 0
  let isQuoted = false
  head.forEach((byte, at) => {
    if (byte === 0x22) isQuoted = !isQuoted
    else if (byte === 0x0a && !isQuoted) end = at + 1
  })
  return head.subarray(0, end)
}

const keepWholeFoods = (member: MemberHead) => {
  try {
    const lines = parseFoods(member).map((food) => JSON.stringify(food))
    return Buffer.from(`{"BrandedFoods":[\n${lines.join(",\n")}\n]}\n`)
  } catch {
    return member.head // not a list of foods: it is replayed unchanged
  }
}

const shortenMember = (member: MemberHead) => {
  if (member.head.length >= member.bytes) return member.head
  return /\.json$/i.test(member.name) ? keepWholeFoods(member) : keepWholeRecords(member.head)
}

const encodeJson = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`)

/** For commodities, the parameter `q` contains only the date window. */
const omitWindow = (url: string) => url.replace(/([?&])q=[^&]*&?/, "$1").replace(/[?&]$/, "")

/**
 * Names the first response of each report without its window: a replay requests the newest days without one. Later
 * responses, of earlier eras, keep theirs.
 */
const makeRecordingNames = (pipeline: string) => {
  const named = new Set<string>()
  return (url: string) => {
    const report = pipeline === "commodities" ? omitWindow(url) : url
    const isFirst = !named.has(report)
    named.add(report)
    return recordingName(isFirst ? report : url)
  }
}

const hasValidName = (name: string) => name.split("/").every((part) => Buffer.byteLength(part) <= maxNameBytes)

const listRecordings = Effect.fnUntraced(function* (probed: ProbedPipeline) {
  const entries: Array<BundleEntry> = []
  const fetches: Array<unknown> = []
  const nameRecording = makeRecordingNames(probed.pipeline)
  let stores: string | undefined
  for (const line of yield* Effect.orDie(readFetches(probed.folder, probeRunId))) {
    const recording = nameRecording(line.url)
    if (!hasPayload(line)) {
      const refusal = encodeRefusal(line.url, line.refusal)
      entries.push({ name: recording + refusedSuffix, bytes: encodeJson(refusal) })
      fetches.push({ url: line.url, recording, refusal })
      continue
    }
    const { content_type, etag, fetched_at, final_url, last_modified, sha256, status, extra_values, url } = line
    const isIncluded = line.bytes <= maxRecordingBytes && hasValidName(recording)
    const about = { content_type, etag, last_modified, extra_values, bytes: line.bytes, sha256 }
    fetches.push({ url, final_url, fetched_at, status, ...about, recording: isIncluded ? recording : null })
    if (!isIncluded && url !== listAddress) continue
    const archived = yield* Effect.orDie(openPayload(probed.folder, sha256))
    const payload = yield* Effect.orDie(Effect.tryPromise(() => buffer(archived)))
    if (url === listAddress) stores = payload.toString("utf8")
    if (!isIncluded) continue
    entries.push({ name: recording, bytes: payload })
    const { date: _date, ...values } = extra_values ?? {} // a replay does not compare clocks
    if (Object.keys(values).length > 0) entries.push({ name: recording + extraValuesSuffix, bytes: encodeJson(values) })
  }
  return { entries, fetches, stores }
})

const recordZip = ({ members, refusal, url }: ProbedZip, { bytes: redact }: Redaction) =>
  Effect.promise(async (): Promise<BundleEntry> => {
    const name = recordingName(url)
    if (refusal !== undefined) return { name: name + refusedSuffix, bytes: encodeJson(encodeRefusal(url, refusal)) }
    const entries = members.map((member) => ({ name: member.path, bytes: redact(shortenMember(member)) }))
    return { name, bytes: await zipEntries(entries) }
  })

const listFolders = (name: string) => {
  const parts = name.split("/").slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"))
}

/** Uses the later of two entries with one name. Omits files named like folders, and refusals if there is a payload. */
const selectFitting = (entries: ReadonlyArray<BundleEntry>) => {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const folders = new Set(entries.flatMap(({ name }) => listFolders(name)))
  let remainingBytes = maxBundleBytes
  return [...byName.values()].filter(({ bytes, name }) => {
    if (name.endsWith(refusedSuffix) && byName.has(name.slice(0, -refusedSuffix.length))) return false
    if (folders.has(name)) return false
    remainingBytes -= bytes.length
    return remainingBytes >= 0
  })
}

/** Writes the file, complete or not at all, and returns the number of recordings in it. */
export const writeProbeBundle = Effect.fn("probe.writeBundle")(function* (
  file: string,
  probed: ReadonlyArray<ProbedPipeline>,
  verdicts: ReadonlyArray<FeedVerdict>
) {
  const read = yield* Effect.forEach(probed, listRecordings)
  const redaction = yield* makeRedaction(read.find(({ stores }) => stores !== undefined)?.stores)
  const redact = ({ bytes, name }: BundleEntry) => ({ name: redaction.text(name), bytes: redaction.bytes(bytes) })
  const probedZips = probed.flatMap(({ zips }) => zips)
  const zips = yield* Effect.forEach(probedZips, (zip) => recordZip(zip, redaction))
  const recordings = selectFitting([...zips, ...read.flatMap(({ entries }) => entries).map(redact)])
  const made_at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const about = {
    larder: version,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    made_at,
    feeds: verdicts,
    fetches: read.flatMap(({ fetches }) => fetches),
    zips: probedZips.map(({ listed, url }) => ({ url, members: listed }))
  }
  const entries = [redact({ name: "probe.json", bytes: encodeJson(about) }), ...recordings]
  const part = `${file}.part`
  yield* Effect.tryPromise({
    try: async () => {
      try {
        await writeFile(part, await zipEntries(entries), { flag: "wx" })
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
