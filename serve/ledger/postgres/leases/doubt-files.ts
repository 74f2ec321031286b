/**
 * In-doubt calls: they were answered with an error while it was unknown whether they were charged. They are stored on
 * disk until the database has been queried, so they get a refund even if the server ends before. There is one file per
 * name of a server, in `$LARDER_HOME/ledger/in-doubt`, with one request id per line.
 */
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import path from "node:path"
import { flushFolder } from "../../files.ts"

export interface InDoubtCalls {
  /** Name under which the database knew the server when it sent the charges. */
  readonly member: string
  readonly requestIds: ReadonlyArray<string>
}

export interface InDoubtFiles {
  /** Returns when the ids are flushed. */
  readonly add: (member: string, requestIds: ReadonlyArray<string>) => void
  readonly all: () => ReadonlyArray<InDoubtCalls>
  /** All of its calls are reconciled. The file stays if calls were added since it was read. */
  readonly remove: (doubt: InDoubtCalls) => void
}

export const openInDoubtFiles = (ledgerDirectory: string): InDoubtFiles => {
  const folder = path.join(ledgerDirectory, "in-doubt")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const one of [ledgerDirectory, folder]) chmodSync(one, 0o700) // also if they existed
  for (const name of readdirSync(folder)) chmodSync(path.join(folder, name), 0o600)
  const read = (member: string): InDoubtCalls => ({
    member,
    requestIds: readFileSync(path.join(folder, member), "utf8").split("\n").slice(0, -1)
  })
  return {
    add: (member, requestIds) => {
      const lines = requestIds.map((id) => `${id}\n`).join("")
      appendFileSync(path.join(folder, member), lines, { mode: 0o600, flush: true })
      flushFolder(folder)
    },
    all: () => readdirSync(folder).map(read),
    remove: ({ member, requestIds }) => {
      if (read(member).requestIds.length === requestIds.length) rmSync(path.join(folder, member))
    }
  }
}
