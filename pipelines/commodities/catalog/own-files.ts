/** The files of the operator's catalog, as text. */
import path from "node:path"
import { suggestName } from "@larder/schemas"
import { Effect, FileSystem } from "effect"
import { describeKind } from "../../run/files/file-kind.ts"
import { BadLine } from "../../run/files/hand-edited.ts"

/** Notes, series and texts of rows are not the operator's: see the README of the catalog. */
const ownTables = ["feeds", "metrics", "products"] as const
type OwnTable = (typeof ownTables)[number]
const fileNames = ownTables.map((table) => `${table}.tsv`)

export interface OwnFile {
  readonly file: string
  readonly text: string
}
export interface OwnFiles {
  readonly files: Readonly<Partial<Record<OwnTable, OwnFile>>>
  readonly faults: ReadonlyArray<BadLine>
}

const badFile = (file: string, problem: string) => new BadLine({ file, line: null, column: null, problem })

const describeUnknown = (name: string) => {
  const nearest = suggestName(name, fileNames)
  const known = `a catalog has only ${fileNames.join(", ")}`
  return nearest === undefined
    ? `the file is unknown: ${known}. Remove it, or put a dot before its name`
    : `the file is unknown: ${known}. Did you mean ${nearest}?`
}

const decode = (file: string, bytes: Uint8Array) =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => badFile(file, "it is not UTF-8 text: save it as UTF-8, separated by tabs")
  })

const readText = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const unreadable = (cause: unknown) => badFile(file, `it cannot be read: ${String(cause)}`)
  const { type } = yield* Effect.mapError(fs.stat(file), ({ reason }) => unreadable(reason.cause ?? reason))
  if (type !== "File") return yield* badFile(file, `it is ${describeKind(type)}, and only regular files are read`)
  const bytes = yield* Effect.mapError(fs.readFile(file), ({ reason }) => unreadable(reason.cause ?? reason))
  return { file, text: yield* decode(file, bytes) }
})

const listNames = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(fs.stat(folder), ({ reason }) =>
    badFile(folder, reason._tag === "NotFound" ? "there is no such folder" : `it cannot be read: ${reason.cause}`)
  )
  if (info.type !== "Directory") return yield* badFile(folder, `it is ${describeKind(info.type)}, not a folder`)
  const names = yield* Effect.mapError(fs.readDirectory(folder), ({ reason }) =>
    badFile(folder, `it cannot be read: ${reason.cause}`)
  )
  // version control, editors and Kubernetes keep files in it whose names begin with a dot
  return names.filter((name) => !name.startsWith(".")).sort()
})

/** Reads a folder with some of the tables. Everything that is wrong with it is a fault. */
export const readOwnFiles = (folder: string) =>
  Effect.gen(function* () {
    const names = yield* listNames(folder)
    const faults = names
      .filter((name) => !fileNames.includes(name))
      .map((name) => badFile(path.join(folder, name), describeUnknown(name)))
    const files: Partial<Record<OwnTable, OwnFile>> = {}
    for (const table of ownTables) {
      if (!names.includes(`${table}.tsv`)) continue
      const read = yield* Effect.result(readText(path.join(folder, `${table}.tsv`)))
      if (read._tag === "Success") files[table] = read.success
      else faults.push(read.failure)
    }
    const isEmpty = names.length === 0
    const empty = badFile(folder, `the folder is empty: it must have one or more of ${fileNames.join(", ")}`)
    return { files, faults: isEmpty ? [empty] : faults }
  }).pipe(Effect.catchTag("BadLine", (fault) => Effect.succeed<OwnFiles>({ files: {}, faults: [fault] })))
