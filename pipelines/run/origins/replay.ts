/**
 * Recordings instead of the network: `<folder>/<host>/<path as in the URL>[?query]`, or a bundle of
 * `larder-ingest probe`. Names keep the percent-encoding, and have `%3F` for `?` if the file system does not allow `?`.
 * The exact query takes precedence over the same parameters in another order, and both over a file without a query, which
 * matches any query. Each may be compressed under the same name plus `.gz`. If a path is also a folder, record it with an empty
 * query, `reports?`, or as `reports.gz`. Further values of a response are in `<name>.extra-values.json`, an object of
 * strings; a refusal is in `<name>.refused.json`.
 */
import path from "node:path"
import { createGunzip } from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, FileSystem, Layer, Option, type PlatformError, Schema, Stream } from "effect"
import { pieceBytes } from "../files/chunk-size.ts"
import { unpackBundle } from "./bundle-files.ts"
import { recordedResponse } from "./file.ts"
import {
  decodeRefusal,
  NotRecorded,
  Origin,
  RecordingUnreadable,
  type Resume,
  type SourceRequest,
  type SourceResponse
} from "./origin.ts"

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

/** Returns the same string for queries that differ only in order or encoding. */
const normaliseQuery = (query: string) =>
  [...new URLSearchParams(query)]
    .map((pair) => JSON.stringify(pair))
    .sort()
    .join()

export const extraValuesSuffix = ".extra-values.json"
export const refusedSuffix = ".refused.json"
const decodeValues = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** Returns the name of an address, relative to the folder of recordings, in a form that every file system allows. */
export const recordingName = (url: string) => {
  const { search } = new URL(url)
  const name = recordedPath(url)
  const query = search.slice(1).replaceAll("/", "%2F").replaceAll("\\", "%5C")
  return search === "" && !name.endsWith("/") ? name : `${name}%3F${query}`
}

const recordedPath = (url: string) => {
  const { host, pathname, protocol } = new URL(url)
  return protocol === "file:" ? pathname.slice(1) : host + pathname
}

interface Candidate {
  readonly name: string
  readonly isPacked: boolean
  readonly exact: boolean
}

const listCandidates = (name: string, exact: boolean): ReadonlyArray<Candidate> => [
  { name, isPacked: false, exact },
  { name: `${name}.gz`, isPacked: true, exact }
]

const make = Effect.fnUntraced(function* (kind: "replay" | "sample", folder: string, displayName = folder) {
  const fs = yield* FileSystem.FileSystem
  const root = path.resolve(folder)

  /** Undefined for a name that leads out of the folder: a host or a query may contain `..`. */
  const resolveInside = (name: string) => {
    const file = path.resolve(root, name)
    return file.startsWith(root + path.sep) ? file : undefined
  }

  /** A name that is missing, too long or below a file is not a recording. A missing permission is an error. */
  const unlessMissing = <A, B>(file: string, read: Effect.Effect<A, PlatformError.PlatformError>, absent: B) =>
    Effect.catch(read, ({ reason }) =>
      reason._tag === "PermissionDenied"
        ? Effect.fail(new RecordingUnreadable({ file, cause: reason.cause ?? reason }))
        : Effect.succeed(absent)
    )

  const isFile = (name: string) => {
    const file = resolveInside(name)
    if (file === undefined) return Effect.succeed(false)
    return Effect.map(unlessMissing(file, fs.stat(file), undefined), (info) => info?.type === "File")
  }

  const findReordered = Effect.fnUntraced(function* (name: string, query: string) {
    const slash = name.lastIndexOf("/") + 1
    const parent = resolveInside(name.slice(0, slash))
    if (parent === undefined) return []
    const requested = normaliseQuery(query)
    const entries = (yield* unlessMissing(parent, fs.readDirectory(parent), [])).sort()
    const queries = ["?", "%3F"].flatMap((mark) => {
      const prefix = name.slice(slash) + mark
      return entries.flatMap((entry) =>
        entry.startsWith(prefix) ? [{ entry, recorded: entry.slice(prefix.length) }] : []
      )
    })
    return queries.flatMap(({ entry, recorded }): ReadonlyArray<Candidate> => {
      const isPacked = normaliseQuery(recorded) !== requested
      if (isPacked && (!recorded.endsWith(".gz") || normaliseQuery(recorded.slice(0, -3)) !== requested)) return []
      return [{ name: name.slice(0, slash) + entry, isPacked, exact: true }]
    })
  })

  const readJson = <A, E>(name: string, decode: (text: string) => Effect.Effect<A, E>) => {
    const file = path.join(root, name)
    return Effect.mapError(
      Effect.flatMap(fs.readFileString(file), decode),
      (cause) => new RecordingUnreadable({ file, cause })
    )
  }

  const readValues = Effect.fnUntraced(function* ({ name, isPacked }: Candidate, extraValues: ReadonlyArray<string>) {
    const valuesFile = (isPacked ? name.slice(0, -".gz".length) : name) + extraValuesSuffix
    if (!(yield* isFile(valuesFile))) return {} // a pipe would block
    const recordedValues = yield* readJson(valuesFile, decodeValues)
    const values = Object.entries(recordedValues).filter(([key]) => extraValues.includes(key))
    return values.length === 0 ? {} : { extra_values: Object.fromEntries(values) }
  })

  const failIfRefused = Effect.fnUntraced(function* (names: ReadonlyArray<Candidate>) {
    const files = names.filter(({ isPacked }) => !isPacked).map(({ name }) => name + refusedSuffix)
    const refused = yield* Effect.findFirst(files, isFile)
    if (Option.isSome(refused)) return yield* Effect.fail(yield* readJson(refused.value, decodeRefusal))
  })

  const open = Effect.fn("Origin.open")(function* (request: SourceRequest, resume?: Resume) {
    const { search } = new URL(request.url)
    const name = recordedPath(request.url)
    const exactNames = listCandidates(name + search, true)
    const encoded = search === "" ? [] : listCandidates(name + search.replace("?", "%3F"), true)
    const anyQuery = search === "" ? [] : listCandidates(name, false)
    const findFile = (candidates: ReadonlyArray<Candidate>) =>
      Effect.findFirst(candidates, (candidate) => isFile(candidate.name))
    let found = yield* findFile([...exactNames, ...encoded])
    // only then: it reads the names of all recordings of the folder
    if (Option.isNone(found)) found = yield* findFile([...(yield* findReordered(name, search.slice(1))), ...anyQuery])
    if (Option.isNone(found)) {
      yield* failIfRefused([...exactNames, ...encoded, ...anyQuery])
      const others = search === "" ? [] : [`${name}?… (the same parameters in another order)`]
      const looked_for = [...exactNames.map((file) => file.name), ...others, ...anyQuery.map((file) => file.name)]
      return yield* new NotRecorded({ url: request.url, kind, folder: displayName, looked_for })
    }
    const { name: recording, isPacked, exact } = found.value
    const file = path.join(root, recording)
    const from = isPacked ? 0 : (resume?.from ?? 0)
    const size = isPacked ? undefined : yield* unlessMissing(file, fs.stat(file), undefined)
    const bytes = fs.stream(file, { offset: from, chunkSize: pieceBytes })
    const values = request.extraValues === undefined ? {} : yield* readValues(found.value, request.extraValues)
    const body = isPacked ? NodeStream.pipeThroughSimple(bytes, () => createGunzip()) : bytes
    return {
      ...recordedResponse(request.url),
      exact,
      from,
      total: size === undefined ? null : Number(size.size),
      ...values,
      body: Stream.mapError(body, (error) => new RecordingUnreadable({ file, cause: error.cause ?? error }))
    } satisfies SourceResponse
  })

  /** Lists the addresses of the files in a folder and below it. The scheme is not recorded and comes from the prefix. */
  const list = Effect.fnUntraced(function* (prefix: string) {
    const scheme = prefix.slice(0, prefix.indexOf("//") + 2)
    const relativePrefix = prefix.slice(scheme.length)
    const folder = resolveInside(relativePrefix.slice(0, relativePrefix.lastIndexOf("/") + 1))
    if (folder === undefined) return []
    const names = yield* unlessMissing(folder, fs.readDirectory(folder, { recursive: true }), [])
    const recordings = names.filter((name) => !name.endsWith(extraValuesSuffix))
    const withoutSuffix = (name: string) => (name.endsWith(refusedSuffix) ? name.slice(0, -refusedSuffix.length) : name)
    const files = yield* Effect.filter(recordings, (name) =>
      Effect.map(unlessMissing(name, fs.stat(path.join(folder, name)), undefined), (info) => info?.type === "File")
    )
    const addresses = files.map((name) => {
      const recording = path.relative(root, path.join(folder, withoutSuffix(name))).replaceAll(path.sep, "/")
      return scheme + recording.replace(/\.gz$/, "").replace("%3F", "?")
    })
    return [...new Set(addresses)].filter((address) => address.startsWith(prefix)).sort()
  })

  const isFolder = yield* fs.stat(root).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false) // there is nothing to read, for any reason
  )
  if (!isFolder) return yield* new RecordingsMissing({ kind, folder: displayName })
  return Origin.of({ kind, open, list, retry: (attempt) => attempt })
})

/** Returns the location if it is a folder, or the folder into which its bundle is unpacked until the scope closes. */
export const openRecordings = Effect.fnUntraced(function* (location: string) {
  const fs = yield* FileSystem.FileSystem
  const isBundle = yield* fs.stat(location).pipe(
    Effect.map(({ type }) => type === "File"),
    Effect.orElseSucceed(() => false)
  )
  return isBundle ? yield* unpackBundle(location) : location
})

export const listRecordedNames = Effect.fnUntraced(function* (location: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* openRecordings(location)
  return new Set(yield* Effect.orElseSucceed(fs.readDirectory(folder), () => []))
}, Effect.scoped)

export const replayOrigin = (location: string) =>
  Layer.effect(
    Origin,
    Effect.flatMap(openRecordings(location), (folder) => make("replay", folder, location))
  )

export const sampleOrigin = (folder: string) => Layer.effect(Origin, make("sample", folder))
