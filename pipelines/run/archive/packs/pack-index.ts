/**
 * An index of the packs by payload: a small SQLite file beside the packs, so that a run does not have to open all of
 * them. Packs that it lacks are read when it is opened, and a missing or damaged index is built again. The index is not
 * trusted: a payload is read from its pack and compared with its hash.
 */
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { ifMissing } from "@larder/warehouse"
import { Effect, FileSystem } from "effect"
import { reasonOf } from "../../files/causes.ts"
import { withPack } from "./pack-file.ts"

/**
 * `write` keeps the file up to date. `read` adds in memory what the file lacks, because a dry run changes nothing on
 * disk. `scan` ignores the file: a rebuild of everything opens nearly all packs anyway.
 */
export type IndexUse = "write" | "read" | "scan"

/** Milliseconds to wait while another run writes a few rows. */
const timeout = 5_000

const tables = `
  create table if not exists pack (pack_id integer primary key, name text not null unique) strict;
  create table if not exists member (
    sha256 blob not null, pack_id integer not null, primary key (sha256, pack_id)
  ) strict, without rowid;`

export const packName = /^[^.].*\.zip$/

/** SQLite's codes for a damaged file, and for a file that is not a database. */
const isDamaged = (error: unknown) =>
  error instanceof Error && "errcode" in error && (error.errcode === 11 || error.errcode === 26)

const openDatabase = (file: string, use: IndexUse) => {
  const db = new DatabaseSync(use === "write" ? file : ":memory:", { timeout })
  try {
    db.exec(tables)
    if (use === "read") db.prepare("attach ? as stored").run(`${pathToFileURL(file).href}?mode=ro`)
    const fromEach = (select: (schema: string) => string) =>
      db.prepare(`${(use === "read" ? ["main", "stored"] : ["main"]).map(select).join(" union ")} order by name desc`)
    const packs = fromEach((schema) => `select name from ${schema}.pack`)
    const find = fromEach(
      (schema) => `select name from ${schema}.member join ${schema}.pack using (pack_id) where sha256 = ?1`
    )
    const listNames = (rows: ReadonlyArray<Record<string, unknown>>) => rows.map(({ name }) => String(name))
    return {
      use,
      close: () => db.close(),
      packs: () => listNames(packs.all()),
      /** The newest pack first: a pack that was made because an earlier one is damaged comes before it. */
      packsOf: (sha256: string) => listNames(find.all(Buffer.from(sha256, "hex"))),
      update: (added: ReadonlyMap<string, Iterable<string>>, missing: Iterable<string>) => {
        db.exec("begin immediate")
        try {
          const wherePack = "where pack_id = (select pack_id from pack where name = ?)"
          for (const name of missing) {
            db.prepare(`delete from member ${wherePack}`).run(name)
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
type Database = ReturnType<typeof openDatabase>

export const openPackIndex = Effect.fn("PackIndex.open")(function* (folder: string, use: IndexUse) {
  const fs = yield* FileSystem.FileSystem
  const file = path.join(folder, "index.sqlite")

  const readMembers = (name: string) => {
    const pack = path.join(folder, name)
    return Effect.tryPromise(() => withPack(pack, ({ members }) => [...members.keys()])).pipe(
      Effect.tapError(({ cause }) =>
        Effect.logWarning(
          `${pack} cannot be read (${reasonOf(cause)}): its payloads count as missing. Restore it from a backup.`
        )
      ),
      Effect.orElseSucceed(() => undefined)
    )
  }

  /** Compares the folder with the packs that an index lists. */
  const findChanges = Effect.fnUntraced(function* (listed: ReadonlyArray<string>) {
    const names = yield* fs.readDirectory(folder).pipe(ifMissing<ReadonlyArray<string>>([]))
    const present = new Set(names.filter((name) => packName.test(name)))
    const known = new Set(listed)
    const added = new Map<string, ReadonlyArray<string>>()
    for (const name of present) {
      const members = known.has(name) ? undefined : yield* readMembers(name)
      if (members !== undefined) added.set(name, members)
    }
    return { added, missing: listed.filter((name) => !present.has(name)) }
  })

  const discard = Effect.fnUntraced(function* (cause: unknown) {
    yield* Effect.logInfo(`${file} cannot be used (${reasonOf(cause)}): the packs themselves are read instead`)
    if (use === "write" && isDamaged(cause)) yield* Effect.ignore(fs.remove(file, { force: true }))
  })

  const open = (mode: IndexUse) => Effect.try({ try: () => openDatabase(file, mode), catch: (cause) => cause })
  const opening = Effect.gen(function* () {
    if (!(yield* fs.exists(use === "read" ? file : folder))) return yield* Effect.orDie(open("scan"))
    return yield* open(use).pipe(
      Effect.tapError(discard),
      Effect.catchIf(isDamaged, () => open(use === "write" ? use : "scan")),
      Effect.catch(() => Effect.orDie(open("scan")))
    )
  })
  let database: Database = yield* Effect.acquireRelease(opening, () => Effect.sync(() => database.close()))

  /** Continues with an index in memory if the file turns out to be unusable. The next run builds a damaged file again. */
  const replace = Effect.fnUntraced(function* (cause: unknown) {
    const { added } = yield* findChanges([])
    const replacement = openDatabase(file, "scan")
    replacement.update(added, [])
    database.close()
    database = replacement
    yield* discard(cause)
  })
  const query = <A>(run: (on: Database) => A) =>
    Effect.try({ try: () => run(database), catch: (cause) => cause }).pipe(
      Effect.catch((cause) => Effect.flatMap(replace(cause), () => Effect.sync(() => run(database))))
    )

  const refresh = Effect.gen(function* () {
    const { added, missing } = yield* findChanges(yield* query((index) => index.packs()))
    if (added.size > 0 || missing.length > 0) yield* query((index) => index.update(added, missing))
  })
  yield* refresh

  const add = Effect.fnUntraced(function* (name: string, members: ReadonlyArray<string>) {
    if (database.use === use) return yield* query((index) => index.update(new Map([[name, members]]), []))
    const opened = yield* opening // the folder was missing when the index was opened, or the file was damaged
    database.close()
    database = opened
    yield* refresh
  })

  return { packsOf: (sha256: string) => query((index) => index.packsOf(sha256)), add, refresh }
})
