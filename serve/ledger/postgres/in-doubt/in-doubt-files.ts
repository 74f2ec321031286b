/**
 * In-doubt calls: they were answered with an error while it was unknown whether they were charged. They are stored in
 * `$LARDER_HOME/ledger/in-doubt` until the database has been queried, so they are refunded even if the server ends first.
 * Each file has one call per line: its request id and its account.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { flushFolder } from "../../files.ts"
import { randomString } from "../../random-string.ts"

export interface InDoubtCall {
  readonly request_id: string
  readonly account_id: string
}

interface InDoubtFile {
  readonly name: string
  readonly calls: ReadonlyArray<InDoubtCall>
}

/** The end of the name of a file that is being written. */
const unfinished = ".tmp"

/** A line that was not written completely belongs to a process that was killed, and whose caller has no answer. */
const parseLines = (text: string): ReadonlyArray<InDoubtCall> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const [request_id = "", account_id = ""] = line.split(" ")
      return { request_id, account_id }
    })

export const openInDoubtFiles = (ledgerDirectory: string) => {
  const folder = path.join(ledgerDirectory, "in-doubt")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const directory of [ledgerDirectory, folder]) chmodSync(directory, 0o700) // even if they already exist
  for (const name of readdirSync(folder)) {
    if (name.endsWith(unfinished)) rmSync(path.join(folder, name))
    else chmodSync(path.join(folder, name), 0o600)
  }
  return {
    /** Returns when the calls are flushed. If this fails, no file has them: they may still be charged and answered with 200. */
    add: (calls: ReadonlyArray<InDoubtCall>): void => {
      const lines = calls.map(({ account_id, request_id }) => `${request_id} ${account_id}\n`).join("")
      const file = path.join(folder, randomString(20))
      try {
        writeFileSync(file + unfinished, lines, { mode: 0o600, flush: true })
        renameSync(file + unfinished, file)
        flushFolder(folder)
      } catch (cause) {
        for (const name of [file, file + unfinished]) rmSync(name, { force: true })
        throw cause
      }
    },
    list: (): ReadonlyArray<InDoubtFile> =>
      readdirSync(folder)
        .filter((name) => !name.endsWith(unfinished))
        .map((name) => ({ name, calls: parseLines(readFileSync(path.join(folder, name), "utf8")) })),
    /** Called when its calls are refunded, or were not charged. */
    remove: ({ name }: InDoubtFile): void => rmSync(path.join(folder, name), { force: true })
  }
}

export type InDoubtFiles = ReturnType<typeof openInDoubtFiles>
