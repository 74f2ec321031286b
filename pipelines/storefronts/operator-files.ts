/**
 * Files of the operator's machine, for live runs: the store list that `--stores` or `LARDER_STORES` names, and feeds of stores
 * that lie below the folder that `LARDER_STORE_FILES` names. Nothing else is ever read, whatever a list says. In recordings and in
 * the bundled samples the same addresses lie beside the hosts; only a list that was given is read instead of a recorded one.
 */
import { realpath } from "node:fs/promises"
import { Config, Effect, FileSystem, Option, Path } from "effect"
import { answerOf } from "../run/file-origin.ts"
import { type Ask, Origin, RecordingUnreadable, RefusedByUpstream } from "../run/origin.ts"

const scheme = "file:"
export const listAddress = `${scheme}stores.json`

/** The address of a feed that lies on this machine. */
export const addressOfFile = (location: string) => scheme + location.split(/[/\\]/).map(encodeURIComponent).join("/")

const settings = Config.all({
  list: Config.option(Config.String("LARDER_STORES")),
  folder: Config.option(Config.String("LARDER_STORE_FILES"))
})

const isMissing = (cause: unknown) =>
  cause instanceof Error && ["ENOENT", "ENOTDIR"].includes(String(Reflect.get(cause, "code")))

/** Whether the settings of the operator name any stores. */
export const hasStoreList = Effect.map(settings, ({ list }) => Option.isSome(list))

/** An origin that answers `file:` addresses from this machine, and asks `origin` for all else. A list that was `given` comes first. */
export const withOperatorFiles = Effect.fnUntraced(function* (origin: Origin["Service"], given?: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { folder, list: set } = yield* settings
  const list = given === undefined ? set : Option.some(given)

  const refuse = (url: string, problem: string) => Effect.fail(new RefusedByUpstream({ url, status: 0, problem }))

  /** Links are followed before the place is judged: none leads out of the folder. */
  const inFolder = Effect.fnUntraced(function* (url: string, root: string) {
    const names = url.slice(scheme.length).split("/").map(decodeURIComponent)
    const real = (file: string, missing: string) =>
      Effect.tryPromise({
        try: () => realpath(file),
        catch: (cause) =>
          isMissing(cause)
            ? new RefusedByUpstream({ url, status: 0, problem: missing })
            : new RecordingUnreadable({ file: url, cause })
      })
    const base = yield* real(root, "the folder that LARDER_STORE_FILES names is not there")
    const file = yield* real(path.join(base, ...names), "there is no such file in the folder of store files")
    return file.startsWith(base + path.sep) ? file : yield* refuse(url, "it lies outside of the folder of store files")
  })

  const placeOf = (url: string) => {
    if (url === listAddress) {
      return Option.match(list, {
        onNone: () => refuse(url, "no store list is given: name a JSON file with --stores or in LARDER_STORES"),
        onSome: (file) => Effect.succeed(file)
      })
    }
    return Option.match(folder, {
      onNone: () => refuse(url, "a store's feed is a path, and no folder is given for such: set LARDER_STORE_FILES"),
      onSome: (root) => inFolder(url, root)
    })
  }

  const open = Effect.fnUntraced(function* ({ url }: Ask) {
    const file = yield* placeOf(url)
    return yield* answerOf(fs, url, file, url)
  })
  const isOurs =
    origin.kind === "live"
      ? (url: string) => url.startsWith(scheme)
      : (url: string) => url === listAddress && given !== undefined
  return Origin.of({ ...origin, open: (ask, resume) => (isOurs(ask.url) ? open(ask) : origin.open(ask, resume)) })
})
