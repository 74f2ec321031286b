/**
 * Recorded payloads instead of the network: `<folder>/<host>/<path as in the URL>[?query]`. Names keep the
 * percent-encoding, and have `%3F` for `?` if the file system does not allow `?`, as on Windows. A file with the exact
 * query answers first, then one with the same parameters in another order, then a file without a query, which answers
 * any query. Each may be compressed under the same name plus `.gz`. If a path is also a folder (a list and what it
 * lists), record it with an empty query, `reports?`, or as `reports.gz`. Further values of the response may be beside
 * it as `<name>.told.json`, an object of strings, and a refusal instead of a response as `<name>.refused.json`. The
 * bundled samples are such a folder, and a bundle of `larder-ingest probe` is one in a zip.
 */
import { createGunzip } from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, FileSystem, Layer, Option, Path, type PlatformError, Schema, Stream } from "effect"
import { unpackedBundle } from "./bundle-files.ts"
import {
  NotRecorded,
  Origin,
  RecordingUnreadable,
  type Resume,
  type SourceRequest,
  type SourceResponse
} from "./origin.ts"
import { decodeRefusal } from "./recorded-refusals.ts"

export class RecordingsMissing extends Schema.TaggedError<RecordingsMissing>()("RecordingsMissing", {
  kind: Schema.Literals(["replay", "sample"]),
  folder: Schema.String
}) {
  override get message() {
    return this.kind === "sample"
      ? `The bundled samples are not at ${this.folder}. Install the package again.`
      : `There is no folder ${this.folder}. A folder of recordings has files named <host>/<path as in the URL>[?query].`
  }
}

/** The parameters of a query, decoded and sorted: queries that differ only in order or encoding give the same text. */
const parametersOf = (query: string) =>
  [...new URLSearchParams(query)]
    .map((pair) => JSON.stringify(pair))
    .sort()
    .join()

/** Separators between path and query in a name. */
const marks = ["?", "%3F"]

export const toldSuffix = ".told.json"
export const refusedSuffix = ".refused.json"
const decodeTold = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** The name of an address relative to the folder of recordings, in the form that every file system allows. */
export const recordingName = (url: string) => {
  const { host, pathname, protocol, search } = new URL(url)
  const name = protocol === "file:" ? pathname.slice(1) : host + pathname
  const isFolder = name.endsWith("/")
  const query = search.slice(1).replaceAll("/", "%2F").replaceAll("\\", "%5C")
  return search === "" && !isFolder ? name : `${name}%3F${query}`
}

interface Candidate {
  /** Relative to the folder. */
  readonly name: string
  readonly packed: boolean
  readonly exact: boolean
}

const bothForms = (name: string, exact: boolean): ReadonlyArray<Candidate> => [
  { name, packed: false, exact },
  { name: `${name}.gz`, packed: true, exact }
]

const make = Effect.fnUntraced(function* (kind: "replay" | "sample", folder: string, shown = folder) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(folder)

  /** Undefined for a name that leads out of the folder: a host or a query may contain `..`. */
  const inside = (name: string) => {
    const file = path.resolve(root, name)
    return file.startsWith(root + path.sep) ? file : undefined
  }

  /** A name that is missing, too long or below a file is not a recording. A missing permission is an error. */
  const orAbsent = <A, B>(file: string, read: Effect.Effect<A, PlatformError.PlatformError>, absent: B) =>
    Effect.catch(read, ({ reason }) =>
      reason._tag === "PermissionDenied"
        ? Effect.fail(new RecordingUnreadable({ file, cause: reason.cause ?? reason }))
        : Effect.succeed(absent)
    )

  const isFile = (name: string) => {
    const file = inside(name)
    if (file === undefined) return Effect.succeed(false)
    return Effect.map(orAbsent(file, fs.stat(file), undefined), (found) => found?.type === "File")
  }

  /** Files of this path whose query has the same parameters, sorted by name. */
  const reordered = Effect.fnUntraced(function* (name: string, query: string) {
    const slash = name.lastIndexOf("/") + 1
    const within = inside(name.slice(0, slash))
    if (within === undefined) return []
    const wanted = parametersOf(query)
    const entries = (yield* orAbsent(within, fs.readDirectory(within), [])).sort()
    const queries = marks.flatMap((mark) => {
      const prefix = name.slice(slash) + mark
      return entries.flatMap((entry) =>
        entry.startsWith(prefix) ? [{ entry, recorded: entry.slice(prefix.length) }] : []
      )
    })
    return queries.flatMap(({ entry, recorded }): ReadonlyArray<Candidate> => {
      const packed = parametersOf(recorded) !== wanted
      if (packed && (!recorded.endsWith(".gz") || parametersOf(recorded.slice(0, -3)) !== wanted)) return []
      return [{ name: name.slice(0, slash) + entry, packed, exact: true }]
    })
  })

  const readJson = <A, E>(name: string, decode: (text: string) => Effect.Effect<A, E>) => {
    const file = path.join(root, name)
    return Effect.mapError(
      Effect.flatMap(fs.readFileString(file), decode),
      (cause) => new RecordingUnreadable({ file, cause })
    )
  }

  /** The recorded values that the request asks for. */
  const toldBeside = Effect.fnUntraced(function* ({ name, packed }: Candidate, wants: ReadonlyArray<string>) {
    const beside = (packed ? name.slice(0, -".gz".length) : name) + toldSuffix
    if (!(yield* isFile(beside))) return {} // a pipe would block
    const all = yield* readJson(beside, decodeTold)
    const told = Object.entries(all).filter(([key]) => wants.includes(key))
    return told.length === 0 ? {} : { told: Object.fromEntries(told) }
  })

  /** Fails with the recorded refusal, if there is one. */
  const refusedInstead = Effect.fnUntraced(function* (names: ReadonlyArray<Candidate>) {
    const files = names.filter(({ packed }) => !packed).map(({ name }) => name + refusedSuffix)
    const refused = yield* Effect.findFirst(files, isFile)
    if (Option.isSome(refused)) return yield* Effect.fail(yield* readJson(refused.value, decodeRefusal))
  })

  const open = Effect.fn("Origin.open")(function* (ask: SourceRequest, resume?: Resume) {
    const { host, pathname, protocol, search } = new URL(ask.url)
    const name = protocol === "file:" ? pathname.slice(1) : host + pathname
    const same = bothForms(name + search, true)
    const written = search === "" ? [] : bothForms(name + search.replace("?", "%3F"), true)
    const any = search === "" ? [] : bothForms(name, false)
    const candidates = [...same, ...written, ...(yield* reordered(name, search.slice(1))), ...any]
    const found = yield* Effect.findFirst(candidates, (candidate) => isFile(candidate.name))
    if (Option.isNone(found)) {
      yield* refusedInstead([...same, ...written, ...any])
      const others = search === "" ? [] : [`${name}?… (the same parameters in another order)`]
      const looked_for = [...same.map((file) => file.name), ...others, ...any.map((file) => file.name)]
      return yield* new NotRecorded({ url: ask.url, kind, folder: shown, looked_for })
    }
    const { name: recording, packed, exact } = found.value
    const file = path.join(root, recording)
    const from = packed ? 0 : (resume?.from ?? 0)
    const size = packed ? undefined : yield* orAbsent(file, fs.stat(file), undefined)
    const bytes = fs.stream(file, { offset: from })
    const told = ask.wants === undefined ? {} : yield* toldBeside(found.value, ask.wants)
    const body = packed ? NodeStream.pipeThroughSimple(bytes, () => createGunzip()) : bytes
    return {
      status: 200,
      final_url: ask.url,
      content_type: null,
      etag: null,
      last_modified: null,
      exact,
      from,
      total: size === undefined ? null : Number(size.size),
      ...told,
      body: Stream.mapError(body, (error) => new RecordingUnreadable({ file, cause: error.cause ?? error }))
    } satisfies SourceResponse
  })

  /** The addresses of the files in a folder and below it. The scheme is not recorded and comes from the prefix. */
  const listing = Effect.fnUntraced(function* (prefix: string) {
    const scheme = prefix.slice(0, prefix.indexOf("//") + 2)
    const below = prefix.slice(scheme.length)
    const folder = inside(below.slice(0, below.lastIndexOf("/") + 1))
    if (folder === undefined) return []
    const names = yield* orAbsent(folder, fs.readDirectory(folder, { recursive: true }), [])
    const recordings = names.filter((name) => !name.endsWith(toldSuffix))
    const withoutSuffix = (name: string) => (name.endsWith(refusedSuffix) ? name.slice(0, -refusedSuffix.length) : name)
    const files = yield* Effect.filter(recordings, (name) =>
      Effect.map(orAbsent(name, fs.stat(path.join(folder, name)), undefined), (found) => found?.type === "File")
    )
    const addresses = files.map((name) => {
      const recording = path
        .relative(root, path.join(folder, withoutSuffix(name)))
        .split(path.sep)
        .join("/")
      return scheme + (recording.endsWith(".gz") ? recording.slice(0, -3) : recording).replace("%3F", "?")
    })
    return [...new Set(addresses)].filter((address) => address.startsWith(prefix)).sort()
  })

  const isFolder = yield* fs.stat(root).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false) // whatever the reason, there is nothing to read
  )
  if (!isFolder) return yield* new RecordingsMissing({ kind, folder: shown })
  return Origin.of({ kind, open, listing, retrying: (attempt) => attempt })
})

/** The given folder of recordings, or the folder into which a bundle is unpacked until the scope closes. */
export const recordingFolder = Effect.fnUntraced(function* (given: string) {
  const fs = yield* FileSystem.FileSystem
  const isBundle = yield* fs.stat(given).pipe(
    Effect.map(({ type }) => type === "File"),
    Effect.orElseSucceed(() => false)
  )
  return isBundle ? yield* unpackedBundle(given) : given
})

/** Names at the top of a recording: hosts, and a store list. */
export const recordedNames = (given: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* recordingFolder(given)
      return new Set(yield* Effect.orElseSucceed(fs.readDirectory(folder), () => []))
    })
  )

/** `given` is a folder, or a bundle. */
export const replayOrigin = (given: string) =>
  Layer.effect(
    Origin,
    Effect.flatMap(recordingFolder(given), (folder) => make("replay", folder, given))
  )

export const sampleOrigin = (folder: string) => Layer.effect(Origin, make("sample", folder))
