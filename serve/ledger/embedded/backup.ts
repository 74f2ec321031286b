/**
 * A consistent snapshot of the SQLite file, without what must not be restored, taken while charges continue. The copy is
 * made in a folder that only its owner can read, and is checked and flushed before it gets its final name. To restore it,
 * put it into an empty folder under the name `ledger.sqlite`.
 */
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs"
import path from "node:path"
import { Effect } from "effect"
import { makeRestorable, openSqlite, type Sqlite } from "../../persistence/index.ts"
import { type Backup, BackupFailed } from "../administration.ts"
import { flushFile, flushFolder } from "../files.ts"
import { ledgerPath } from "./ledger-file.ts"
import { archivedEntries, readNumberCell } from "./tables.ts"

const nameTaken = "a file with this name already exists; choose another name"

export const checkTarget = (file: string) =>
  Effect.suspend(() => {
    if (!path.isAbsolute(file)) return Effect.fail(new BackupFailed({ file, problem: "the path must be absolute" }))
    return existsSync(file) ? Effect.fail(new BackupFailed({ file, problem: nameTaken })) : Effect.void
  })

/** Removes what must not be restored, makes the copy a single file, checks it, and returns its number of entries. */
const finishCopy = (unfinished: string): number => {
  const copy = openSqlite(unfinished)
  try {
    makeRestorable(copy)
    copy.exec("pragma journal_mode = delete")
    const [counts] = copy.all(
      `select count(*) as entries, coalesce(max(sequence) - ${archivedEntries}, 0) as expected from ledger.entry`
    )
    const [check] = copy.all("pragma quick_check(1)")
    if (check?.quick_check !== "ok" || counts?.entries !== counts?.expected) {
      throw new Error("the copy is incomplete or damaged")
    }
    return readNumberCell(counts, "entries")
  } finally {
    copy.close()
  }
}

export const makeFolderNextTo = (file: string) => mkdtempSync(path.join(path.dirname(file), "larder-backup-"))

export const finishBackup = (unfinished: string, file: string): Backup => {
  chmodSync(unfinished, 0o600)
  const entries = finishCopy(unfinished)
  flushFile(unfinished)
  if (existsSync(file)) throw new Error(nameTaken)
  renameSync(unfinished, file)
  flushFolder(path.dirname(file))
  return { file, entries, bytes: statSync(file).size }
}

export const backUpFile = (sqlite: Sqlite, file: string): Backup => {
  const folder = makeFolderNextTo(file)
  try {
    const unfinished = ledgerPath(folder)
    sqlite.run("vacuum into $1", [unfinished])
    return finishBackup(unfinished, file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
