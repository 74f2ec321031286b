/**
 * The newest entries of an account where the database does not have them yet: in the journal, read backwards. Taking the
 * journal up for every page of a statement would make calls wait for a new file each time.
 */
import { closeSync, openSync, readSync } from "node:fs"
import type { Entry } from "../records.ts"
import type { WrittenFile } from "./journal.ts"
import { decodeLine } from "./journal-group.ts"
import type { PageBefore } from "./store.ts"

const lineBreak = 0x0a

const bytesOf = ({ file, length }: WrittenFile): Buffer => {
  const bytes = Buffer.allocUnsafe(length)
  const fd = openSync(file, "r")
  try {
    let read = 0
    for (let more = 1; read < length && more > 0; read += more) more = readSync(fd, bytes, read, length - read, read)
    return bytes.subarray(0, read)
  } finally {
    closeSync(fd)
  }
}

/** Lines that name the account, the last one first. A text in a record cannot look like this: its quotes are escaped. */
function* linesNaming(bytes: Buffer, accountId: string): Generator<string> {
  const name = `"account_id":${JSON.stringify(accountId)}`
  for (let at = bytes.lastIndexOf(name); at >= 0; ) {
    const start = bytes.lastIndexOf(lineBreak, at) + 1
    yield bytes.toString("utf8", start, bytes.indexOf(lineBreak, at))
    at = start < name.length ? -1 : bytes.lastIndexOf(name, start - name.length)
  }
}

export interface Tail {
  /** The newest first. */
  readonly entries: ReadonlyArray<Entry>
  /** What is missing of the page is in the database, below this position. */
  readonly below: number
}

/** What of a page the files have, the oldest file first. Returns at once: files are written and taken up in other turns. */
export const tailOf = (files: ReadonlyArray<WrittenFile>, { account_id, before, limit, types }: PageBefore): Tail => {
  const entries: Array<Entry> = []
  let below = before
  for (const file of files.toReversed()) {
    for (const line of linesNaming(bytesOf(file), account_id)) {
      const entry = decodeLine(line)
      if (!("sequence" in entry)) continue // a key of the account
      if (entry.position >= below) continue
      below = entry.position
      if (types === undefined || types.includes(entry.type)) entries.push(entry)
      if (entries.length === limit) return { entries, below }
    }
  }
  return { entries, below }
}
