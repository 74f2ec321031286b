/**
 * Files on the operator's machine: the store list that `--stores` or `LARDER_STORES` names, and store feeds beside that
 * list or below the folder that `LARDER_STORE_FILES` names. No other file is ever read, whatever a list says.
 * Recordings and the bundled samples keep the same addresses beside their hosts; only a list that was given explicitly
 * replaces a recorded one.
 */
import { realpath } from "node:fs/promises"
import { Config, Effect, FileSystem, Option, Path } from "effect"
import { openLocalFile } from "../../run/origins/file.ts"
import { Origin, RecordingUnreadable, RefusedByUpstream, type SourceRequest } from "../../run/origins/origin.ts"

const scheme = "file:"
export const listAddress = `${scheme}stores.json`
/** The address of the stores that a run left waiting, in its archive. No file on this machine answers it. */
export const waitingAddress = `${scheme}stores-not-due.json`

/** Whether a location is fetched over the network; otherwise it is a path on this machine. */
export const isOfNetwork = (location: string) => /^https?:\/\//i.test(location)

/** The address of a feed on this machine. */
export const addressOfFile = (location: string) => scheme + location.split(/[/\\]/).map(encodeURIComponent).join("/")

/** An empty setting counts as not set. */
const placeSetting = (name: string) =>
  Config.map(Config.option(Config.String(name)), (place) => Option.filter(place, (text) => text.trim() !== ""))

/** The list that `LARDER_STORES` names, and the folder that `LARDER_STORE_FILES` names. */
export const operatorList = placeSetting("LARDER_STORES")
export const storeFolder = placeSetting("LARDER_STORE_FILES")

const settings = Config.all({ list: operatorList, folder: storeFolder })

const kindsOfFile: Readonly<Record<string, string>> = { Directory: "a folder", FIFO: "a pipe", Socket: "a socket" }

const isMissing = (cause: unknown) =>
  cause instanceof Error && ["ENOENT", "ENOTDIR"].includes(String(Reflect.get(cause, "code")))

/** Whether the operator's settings name a store list. */
export const hasStoreList = Effect.map(operatorList, Option.isSome)

/** Folders that may contain store feeds: that of the operator's list, and the one that `LARDER_STORE_FILES` names. */
const rootsOf = (list: Option.Option<string>, folder: Option.Option<string>, path: Path.Path) => [
  ...Option.toArray(Option.map(list, (file) => path.dirname(path.resolve(file)))),
  ...Option.toArray(folder)
]

/** The name of the list in messages. */
export const listName = Effect.fnUntraced(function* ({ kind }: Pick<Origin["Service"], "kind">, given?: string) {
  const path = yield* Path.Path
  const { list: set } = yield* settings
  const list = given ?? (kind === "live" ? Option.getOrUndefined(set) : undefined)
  return list === undefined ? "stores.json" : path.basename(list)
})

/**
 * An origin that answers `file:` addresses from this machine, and passes all others to `origin`. A list that was
 * `given` takes precedence. A recording is asked before this machine; the bundled samples need no other file of it.
 */
export const withOperatorFiles = Effect.fnUntraced(function* (origin: Origin["Service"], given?: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { folder, list: set } = yield* settings
  const isLive = origin.kind === "live"
  const list = given === undefined && isLive ? set : Option.fromUndefinedOr(given)
  const roots = origin.kind === "sample" ? [] : rootsOf(list, folder, path)

  const refuse = (url: string, problem: string) => Effect.fail(new RefusedByUpstream({ url, status: 0, problem }))

  /** Resolves links before it checks the path: none leads out of the folder. Undefined if there is no such file. */
  const inFolder = Effect.fnUntraced(function* (url: string, root: string) {
    const names = url.slice(scheme.length).split("/").map(decodeURIComponent)
    const real = (file: string) =>
      Effect.tryPromise({
        try: () => realpath(file).catch((cause) => (isMissing(cause) ? undefined : Promise.reject(cause))),
        catch: (cause) => new RecordingUnreadable({ file: url, cause })
      })
    const base = yield* real(root)
    const file = base === undefined ? undefined : yield* real(path.join(base, ...names))
    return file?.startsWith(base + path.sep) ? file : undefined
  })

  const placeOf = Effect.fnUntraced(function* (url: string) {
    if (url === listAddress) {
      return Option.isSome(list)
        ? list.value
        : yield* refuse(url, "no store list is given: name a JSON file with --stores or in LARDER_STORES")
    }
    for (const root of roots) {
      const file = yield* inFolder(url, root)
      if (file !== undefined) return file
    }
    const alsoIn = Option.isSome(folder)
      ? " or in the folder that LARDER_STORE_FILES names"
      : "; LARDER_STORE_FILES may name another folder"
    return yield* refuse(url, `there is no such file beside the store list${alsoIn}`)
  })

  const open = Effect.fnUntraced(function* ({ url }: SourceRequest) {
    const file = yield* placeOf(url)
    const type = yield* Effect.orElseSucceed(
      Effect.map(fs.stat(file), ({ type }) => type),
      () => "File"
    )
    if (type !== "File") {
      return yield* refuse(url, `it is ${kindsOfFile[type] ?? "a device"}, and only regular files are read`)
    }
    return yield* openLocalFile(fs, url, file, url)
  })
  const isOurs = ({ url }: SourceRequest) =>
    isLive ? url.startsWith(scheme) : url === listAddress && given !== undefined
  const isOnlyHere = ({ url }: SourceRequest) =>
    !isLive && roots.length > 0 && url.startsWith(scheme) && url !== waitingAddress
  return Origin.of({
    ...origin,
    open: (ask, resume) => {
      if (isOurs(ask)) return open(ask)
      const recorded = origin.open(ask, resume)
      return isOnlyHere(ask) ? Effect.catchTag(recorded, "NotRecorded", () => open(ask)) : recorded
    }
  })
})
