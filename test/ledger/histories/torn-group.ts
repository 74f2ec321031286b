/** Leaves only some bytes of the last group, as after a power failure during the write. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Death } from "./subject.ts"

const logPath = (folder: string) => path.join(folder, "ledger.sqlite-wal")

/** SQLite flushes the header of a log that it resets before it writes the first frame behind it. */
const headerLength = 32

/** The write-ahead log of a folder. */
export const readLog = (folder: string): Buffer =>
  existsSync(logPath(folder)) ? readFileSync(logPath(folder)) : Buffer.alloc(0)

/** Reverts a part of the last group, which was written completely. At least one byte is reverted, and at least one is kept. */
export const tear = (folder: string, before: Buffer, { tear, tornAt }: Death): void => {
  const whole = readLog(folder)
  const earlier = Buffer.concat([before, Buffer.alloc(Math.max(0, whole.length - before.length))])
  const isChanged = (byte: number, at: number) => at >= headerLength && byte !== earlier[at]
  const first = whole.findIndex(isChanged)
  const last = whole.findLastIndex(isChanged)
  if (first === last) throw new Error(`nothing was written to the log in ${folder}`)
  const boundary = first + 1 + Math.floor(tear * (last - first - 1))
  const torn = Buffer.from(whole)
  if (tornAt === "end") earlier.copy(torn, boundary, boundary, last + 1)
  else earlier.copy(torn, first, first, boundary)
  writeFileSync(logPath(folder), torn)
}
