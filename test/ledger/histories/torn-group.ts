/** What a power cut leaves of the group that was being written: some of its bytes, and what was there before. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Death } from "./subject.ts"

const fileIn = (folder: string) => path.join(folder, "ledger.sqlite-wal")

/** SQLite flushes the header of a log that it resets before it writes the first frame behind it. */
const headerLength = 32

/** The write-ahead log of a folder. */
export const logIn = (folder: string): Buffer =>
  existsSync(fileIn(folder)) ? readFileSync(fileIn(folder)) : Buffer.alloc(0)

/** Takes a part of the last group back, in the folder where it was written whole. At least one byte goes, and one stays. */
export const tear = (folder: string, before: Buffer, { tear, tornAt }: Death): void => {
  const whole = logIn(folder)
  const was = Buffer.concat([before, Buffer.alloc(Math.max(0, whole.length - before.length))])
  const isChanged = (byte: number, at: number) => at >= headerLength && byte !== was[at]
  const first = whole.findIndex(isChanged)
  const last = whole.findLastIndex(isChanged)
  if (first === last) throw new Error(`nothing was written to the log in ${folder}`)
  const cut = first + 1 + Math.floor(tear * (last - first - 1))
  const torn = Buffer.from(whole)
  if (tornAt === "end") was.copy(torn, cut, cut, last + 1)
  else was.copy(torn, first, first, cut)
  writeFileSync(fileIn(folder), torn)
}
