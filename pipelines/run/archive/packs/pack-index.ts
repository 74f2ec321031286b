/**
 * An index of the packs by payload: a small SQLite file beside the packs, so that a run need not open all of them. Packs
 * that it lacks are read when it is opened, and a missing or damaged index is built again. Whatever it contains, a
 * payload is read from its pack and compared with its hash.
 */
import { DatabaseSync } from "node:sqlite"
import { ifMissing } from "@larder/warehouse"
import { Effect, FileSystem, Path } from "effect"
import { reasonOf } from "../../files/causes.ts"
import { withPack } from "./pack-file.ts"

/**
 * `write` keeps the file up to date. `read` changes nothing on disk, as a dry run promises. `scan` reads the packs
 * themselves: a rebuild of everything opens nearly all of them anyway.
 */
export type IndexUse = "write" | "read" | "scan"

/** Milliseconds to wait while another run writes a few rows. */
const timeout = 5_000

const tables = `
  create table if not exists pack (pack_id integer primary key, name text not null unique) strict;
  create table if not exists member (
    sha256 blob not null, pack_id integer not null, primary key (sha256, pack_id)
  ) strict, without rowid;`

/** The newest pack first: a pack that was made because an earlier one is damaged comes before it. */
const packsOfMember = "select name from member join pack using (pack_id) where sha256 = ? order by name desc"

export const packName = /^[^.].*\.zip$/

/** SQLite's codes for a damaged file, and for a file that is not a database. */
const isDamaged = (error: unknown) =>
  error instanceof Error && "errcode" in error && (error.errcode === 11 || error.errcode === 26)

const openFile = (file: string, use: "write" | "read") => {
  const db = new DatabaseSync(file, { timeout, readOnly: use === "read" })
  try {
    if (use === "write") db.exec(tables)
    const find = db.prepare(packsOfMember)
    const packs = db.prepare("select name from pack")
    const namesFrom = (rows: ReadonlyArray<Record<string, unknown>>) => rows.map(({ name }) => String(name))
    return {
      close: () => db.close(),
      packs: () => namesFrom(packs.all()),
      packsOf: (sha256: string) => namesFrom(find.all(Buffer.from(sha256, "hex"))),
      change: (added: ReadonlyMap<string, Iterable<string>>, gone: Iterable<string>) => {
        db.exec("begin immediate")
        try {
          const ofPack = "where pack_id = (select pack_id from pack where name = ?)"
          for (const name of gone) {
            db.prepare(`delete from member ${ofPack}`).run(name)
            db.prepare("delete from pack where name = ?").run(name)
          }
          const addMember = db.prepare("insert or ignore into member select ?, pack_id from pack where name = ?")
          for (const [name, members] of added) {
            db.prepare("insert or ignore into pack (name) values (?)").run(name)
            for (const sha256 of members) addMember.run(Buffer.from(sha256, "hex"), name)
          }
          db.exec("commit")
        } catch (cause) {
          db.exec("rollback")
          throw cause
        }
      }
    }
  } catch (cause) {
    db.close()
    throw cause
  }
}
type IndexFile = ReturnType<typeof openFile>

export const openPackIndex = Effect.fn("PackIndex.open")(function* (folder: string, use: IndexUse) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, "index.sqlite")
  /** Undefined if the file cannot be used. */
  let stored: IndexFile | undefined
  /** Packs that the file does not list, by the payloads that they contain. */
  const unlisted = new Map<string, Set<string>>()
  const read = new Set<string>()

  const drop = (cause: unknown) =>
    Effect.gen(function* () {
      if (stored !== undefined) yield* Effect.sync(stored.close)
      stored = undefined
      if (use === "write" && isDamaged(cause)) yield* Effect.ignore(fs.remove(file, { force: true }))
      yield* Effect.logInfo(`${file} cannot be used (${reasonOf(cause)}): the packs themselves are read instead`)
    })
  const useIndex = <A>(on: (index: IndexFile) => A) =>
    Effect.suspend(() => {
      const index = stored
      if (index === undefined) return Effect.undefined
      return Effect.try({ try: () => on(index), catch: (cause) => cause }).pipe(
        Effect.catch((cause) => Effect.as(drop(cause), undefined))
      )
    })

  const readMembers = (name: string) => {
    const packFile = path.join(folder, name)
    return Effect.tryPromise(() => withPack(packFile, ({ members }) => new Set(members.keys()))).pipe(
      Effect.tapError(({ cause }) =>
        Effect.logWarning(
          `${packFile} cannot be read (${reasonOf(cause)}): its payloads count as missing. Restore it from a backup.`
        )
      ),
      Effect.orElseSucceed(() => undefined)
    )
  }

  const addUnlisted = (name: string, members: Iterable<string>) => {
    read.add(name)
    for (const sha256 of members) unlisted.set(sha256, (unlisted.get(sha256) ?? new Set()).add(name))
  }

  const refresh = Effect.gen(function* () {
    const names = yield* fs.readDirectory(folder).pipe(ifMissing<ReadonlyArray<string>>([]))
    const present = new Set(names.filter((name) => packName.test(name)))
    const known = new Set([...read, ...((yield* useIndex((index) => index.packs())) ?? [])])
    const added = new Map<string, ReadonlySet<string>>()
    for (const name of present) {
      const members = known.has(name) ? undefined : yield* readMembers(name)
      if (members !== undefined) added.set(name, members)
    }
    const gone = [...known].filter((name) => !present.has(name))
    if (added.size === 0 && gone.length === 0) return
    if (use === "write") yield* useIndex((index) => index.change(added, gone))
    if (use !== "write" || stored === undefined) for (const [name, members] of added) addUnlisted(name, members)
  })

  const openStored = Effect.try({
    try: () => openFile(file, use === "read" ? "read" : "write"),
    catch: (cause) => cause
  })
  const open = Effect.gen(function* () {
    if (use === "scan" || !(yield* fs.exists(use === "read" ? file : folder))) return
    stored = yield* openStored.pipe(
      Effect.catchIf(isDamaged, (cause) => Effect.andThen(drop(cause), openStored)),
      Effect.catch((cause) => Effect.as(drop(cause), undefined))
    )
  })
  yield* Effect.acquireRelease(open, () => Effect.sync(() => stored?.close()))
  yield* refresh

  const packsOf = Effect.fnUntraced(function* (sha256: string) {
    const wasOpen = stored !== undefined
    const listed = yield* useIndex((index) => index.packsOf(sha256))
    if (wasOpen && listed === undefined) yield* refresh // the index has just turned out to be damaged
    return [...new Set([...(unlisted.get(sha256) ?? []), ...(listed ?? [])])].sort().reverse()
  })

  const add = Effect.fnUntraced(function* (name: string, members: ReadonlyArray<string>) {
    if (stored === undefined && use === "write") yield* open
    yield* useIndex((index) => index.change(new Map([[name, members]]), []))
    if (stored === undefined) addUnlisted(name, members)
  })
  return { packsOf, add, refresh }
})
