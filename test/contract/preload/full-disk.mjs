/** Preloaded into a server under test: while the file that TEST_FULL_DISK names exists, no write to an open file succeeds. */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

const { existsSync, writeSync } = fs

fs.writeSync = (...given) => {
  if (existsSync(process.env.TEST_FULL_DISK ?? "")) {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" })
  }
  return writeSync(...given)
}
syncBuiltinESMExports()
