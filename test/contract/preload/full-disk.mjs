/**
 * Preloaded into a program under test: while the file that TEST_FULL_DISK names exists, writes to open files fail,
 * and so do commits of SQLite.
 */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { DatabaseSync } from "node:sqlite"

const { existsSync, writeSync } = fs
const { exec } = DatabaseSync.prototype
const isFull = () => existsSync(process.env.TEST_FULL_DISK ?? "")

fs.writeSync = (...given) => {
  if (isFull()) {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" })
  }
  return writeSync(...given)
}
syncBuiltinESMExports()

DatabaseSync.prototype.exec = function (sql) {
  if (sql === "commit" && isFull()) {
    throw Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 })
  }
  return exec.call(this, sql)
}
