/**
 * Checks the store list and the settings of stores before a run begins. The run reads the list again, into the archive.
 */
import { Effect, FileSystem, Option } from "effect"
import type { RunSource } from "../../run/pipeline.ts"
import { UsageError } from "../../run/usage-error.ts"
import { operatorList, storeFolder } from "./operator-files.ts"
import { intervalSettings, invalidIntervals } from "./schedule.ts"
import { maxListLength, parseStoreList, StoreListUnusable } from "./store-list.ts"

const noList = "No store list is given: name a JSON file with --stores or in LARDER_STORES."

const readListText = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const unusable = (problem: string) => new StoreListUnusable({ file, problems: [problem] })
  const { size, type } = yield* Effect.mapError(fs.stat(file), ({ reason }) =>
    unusable(reason._tag === "NotFound" ? "There is no such file" : `It cannot be read: ${String(reason.cause)}`)
  )
  if (type !== "File") return yield* unusable("It is not a regular file") // reading a pipe would wait for its writer
  if (Number(size) > maxListLength) return yield* unusable("It is longer than 64 MB")
  return yield* Effect.mapError(fs.readFileString(file), ({ reason }) =>
    unusable(`It cannot be read: ${String(reason.cause)}`)
  )
})

const checkFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* storeFolder
  if (Option.isNone(folder)) return
  const isFolder = yield* fs.stat(folder.value).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )
  if (isFolder) return
  return yield* new UsageError({
    problem: `LARDER_STORE_FILES is ${folder.value}, which is not a folder: set it to the folder of the stores' files.`
  })
})

export const preflight = Effect.fnUntraced(function* ({ kind, stores }: RunSource) {
  const list = stores ?? (kind === "live" ? Option.getOrUndefined(yield* operatorList) : undefined)
  if (kind === "live") {
    yield* Effect.mapError(intervalSettings, () => new UsageError({ problem: invalidIntervals }))
    if (list === undefined) return { nothingToRead: noList }
    yield* checkFolder
  }
  if (list === undefined) return {}
  yield* Effect.flatMap(readListText(list), (text) => parseStoreList(list, text)).pipe(
    Effect.mapError(({ message }) => new UsageError({ problem: message }))
  )
  return {}
})
