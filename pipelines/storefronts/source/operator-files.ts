/**
 * Files on the operator's machine: the store list that `--stores` or `LARDER_STORES` names, and store feeds next to
 * that list or below the folder that `LARDER_STORE_FILES` names. No other file is ever read, even if a list names it.
 * Recordings and the bundled samples have the same addresses; only a list that was passed with `--stores` replaces a
 * recorded one.
 */
import { realpath } from "node:fs/promises"
import { Config, Effect, FileSystem, Option, Path } from "effect"
import { describeKind } from "../../run/files/file-kind.ts"
import { openLocalFile } from "../../run/origins/file.ts"
import { Origin, RecordingUnreadable, RefusedByUpstream, type SourceRequest } from "../../run/origins/origin.ts"

const scheme = "file:"
export const listAddress = `${scheme}stores.json`
/** The address of a run's waiting stores in its archive. It never leads to a file on this machine. */
export const waitingAddress = `${scheme}stores-not-due.json`

/** False for a path on this machine. */
export const isWebAddress = (location: string) => /^https?:\/\//i.test(location)

export const fileAddress = (location: string) => scheme + location.split(/[/\\]/).map(encodeURIComponent).join("/")

/** An empty setting counts as not set. */
const pathSetting = (name: string) =>
  Config.map(Config.option(Config.String(name)), (setting) => Option.filter(setting, (text) => text.trim() !== ""))

export const operatorList = pathSetting("LARDER_STORES")
export const storeFolder = pathSetting("LARDER_STORE_FILES")

const settings = Config.all({ list: operatorList, folder: storeFolder })

const isMissing = (cause: unknown) =>
  cause instanceof Error && ["ENOENT", "ENOTDIR"].includes(String(Reflect.get(cause, "code")))

export const hasStoreList = Effect.map(operatorList, Option.isSome)

const findRoots = (list: Option.Option<string>, folder: Option.Option<string>, path: Path.Path) => [
  ...Option.toArray(Option.map(list, (file) => path.dirname(path.resolve(file)))),
  ...Option.toArray(folder)
]

export const findListName = Effect.fnUntraced(function* (
  { kind }: Pick<Origin["Service"], "kind">,
  storesFile?: string
) {
  const path = yield* Path.Path
  const { list: configured } = yield* settings
  const list = storesFile ?? (kind === "live" ? Option.getOrUndefined(configured) : undefined)
  return list === undefined ? "stores.json" : path.basename(list)
})

/**
 * An origin that reads `file:` addresses from this machine, and passes all others to `origin`. `storesFile`, the list
 * of `--stores`, takes precedence over the configured list and a recorded one. Otherwise a recording is tried before
 * this machine; with the bundled samples, only `storesFile` is read from this machine.
 */
export const withOperatorFiles = Effect.fnUntraced(function* (origin: Origin["Service"], storesFile?: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { folder, list: configured } = yield* settings
  const isLive = origin.kind === "live"
  const list = storesFile === undefined && isLive ? configured : Option.fromUndefinedOr(storesFile)
  const roots = origin.kind === "sample" ? [] : findRoots(list, folder, path)

  const refuse = (url: string, problem: string) => Effect.fail(new RefusedByUpstream({ url, status: 0, problem }))

  /** Resolves links before it checks the path, so none leads out of the folder. Undefined if there is no such file. */
  const findInFolder = Effect.fnUntraced(function* (url: string, root: string) {
    const names = url.slice(scheme.length).split("/").map(decodeURIComponent)
    const resolveLinks = (file: string) =>
      Effect.tryPromise({
        try: () => realpath(file).catch((cause) => (isMissing(cause) ? undefined : Promise.reject(cause))),
        catch: (cause) => new RecordingUnreadable({ file: url, cause })
      })
    const base = yield* resolveLinks(root)
    const file = base === undefined ? undefined : yield* resolveLinks(path.join(base, ...names))
    return file?.startsWith(base + path.sep) ? file : undefined
  })

  const findFile = Effect.fnUntraced(function* (url: string) {
    if (url === listAddress) {
      return Option.isSome(list)
        ? list.value
        : yield* refuse(url, "no store list is given: name a JSON file with --stores or in LARDER_STORES")
    }
    for (const root of roots) {
      const file = yield* findInFolder(url, root)
      if (file !== undefined) return file
    }
    const suggestion = Option.isSome(folder)
      ? " or in the folder that LARDER_STORE_FILES names"
      : "; LARDER_STORE_FILES may name another folder"
    return yield* refuse(url, `there is no such file next to the store list${suggestion}`)
  })

  const open = Effect.fnUntraced(function* ({ url }: SourceRequest) {
    const file = yield* findFile(url)
    const type = yield* Effect.orElseSucceed(
      Effect.map(fs.stat(file), ({ type }) => type),
      () => "File"
    )
    if (type !== "File") {
      return yield* refuse(url, `it is ${describeKind(type)}, and only regular files are read`)
    }
    return yield* openLocalFile(fs, url, file, url)
  })
  const isLocal = ({ url }: SourceRequest) =>
    isLive ? url.startsWith(scheme) : url === listAddress && storesFile !== undefined
  const mayBeLocal = ({ url }: SourceRequest) =>
    !isLive && roots.length > 0 && url.startsWith(scheme) && url !== waitingAddress
  return Origin.of({
    ...origin,
    open: (request, resume) => {
      if (isLocal(request)) return open(request)
      const recorded = origin.open(request, resume)
      return mayBeLocal(request) ? Effect.catchTag(recorded, "NotRecorded", () => open(request)) : recorded
    }
  })
})
