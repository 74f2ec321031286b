/**
 * Files that a generation carries beside its database, in folders of its own: `larder-000012.duckdb.foods`. Where a data set
 * has changed they are made anew; the others share the files of the generation before, which never change either.
 */
import { Effect, FileSystem, Path } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type DataSet, dataSets } from "../tables.ts"
import { ifMissing } from "./layout.ts"

/** Folder of a data set's files beside the database file of a generation. */
export const carriedFolder = (file: string, name: string) => `${file}.${name}`

const folderNames = dataSets.flatMap(({ files }) => (files === undefined ? [] : [files.name]))

/** Another name for the same file where the file system can, else a copy. */
const share = Effect.fnUntraced(function* (from: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(to)
  for (const name of yield* fs.readDirectory(from)) {
    const target = path.join(to, name)
    yield* fs.link(path.join(from, name), target).pipe(Effect.catch(() => fs.copyFile(path.join(from, name), target)))
  }
})

/** Makes the folders of a generation that is being built: those of this data set anew, the others as the live one has them. */
export const carry = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  dataSet: DataSet,
  live: string | undefined,
  building: string
) {
  const fs = yield* FileSystem.FileSystem
  const own = dataSet.files
  if (own !== undefined) yield* own.build(db, carriedFolder(building, own.name))
  for (const name of folderNames) {
    if (name === own?.name || live === undefined) continue
    const from = carriedFolder(live, name)
    if (yield* fs.exists(from)) yield* share(from, carriedFolder(building, name))
  }
})

/** Gives the folders of a built generation their names. They are there before the database has its own. */
export const finishCarried = Effect.fnUntraced(function* (building: string, file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of folderNames) {
    const from = carriedFolder(building, name)
    const names = yield* fs.readDirectory(from).pipe(ifMissing<ReadonlyArray<string> | undefined>(undefined))
    if (names === undefined) continue
    for (const part of names) {
      const opened = fs.open(path.join(from, part), { flag: "r" })
      yield* Effect.scoped(Effect.flatMap(opened, (file) => file.sync))
      yield* fs.chmod(path.join(from, part), 0o444)
    }
    yield* fs.remove(carriedFolder(file, name), { recursive: true, force: true }) // of a run that was killed before its swing
    yield* fs.rename(from, carriedFolder(file, name))
  }
})
