/**
 * Stores in-doubt calls, which were answered with an error while it was unknown whether they were charged, until the
 * database has been queried: they get a refund even if the server ends before. One file per name of a server, in
 * `$LARDER_HOME/ledger/in-doubt`, with one request id per line.
 */
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import path from "node:path"
import { flushFolder } from "../../files.ts"

export interface InDoubtCalls {
  /** Name under which the database knew the server when it sent the charges. */
  readonly member: string
  readonly requestIds: ReadonlyArray<string>
}

export const openInDoubtFiles = (ledgerDirectory: string) => {
  const folder = path.join(ledgerDirectory, "in-doubt")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const directory of [ledgerDirectory, folder]) chmodSync(directory, 0o700) // also if they existed
  for (const name of readdirSync(folder)) chmodSync(path.join(folder, name), 0o600)
  const read = (member: string): InDoubtCalls => ({
    member,
    requestIds: readFileSync(path.join(folder, member), "utf8").split("\n").slice(0, -1)
  })
  return {
    /** Returns when the ids are flushed. */
    add: (member: string, requestIds: ReadonlyArray<string>): void => {
      const lines = requestIds.map((id) => `${id}\n`).join("")
      appendFileSync(path.join(folder, member), lines, { mode: 0o600, flush: true })
      flushFolder(folder)
    },
    all: (): ReadonlyArray<InDoubtCalls> => readdirSync(folder).map(read),
    /** All of its calls are reconciled. The file stays if calls were added since it was read. */
    remove: ({ member, requestIds }: InDoubtCalls): void => {
      if (read(member).requestIds.length === requestIds.length) rmSync(path.join(folder, member))
    }
  }
}

export type InDoubtFiles = ReturnType<typeof openInDoubtFiles>
