/**
 * What happens to the journal when the ledger opens. All files are read and judged before anything is changed: a torn
 * group at the very end is cut off and reported, damage refuses to open. Then the files are taken up and removed.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { Effect } from "effect"
import { removeDurably } from "./files.ts"
import { journalPattern } from "./journal.ts"
import { gapIn, readJournal } from "./journal-reading.ts"
import type { DatabaseError, LedgerDatabase } from "./ledger-database.ts"
import { LedgerDamaged, LedgerUnavailable } from "./store.ts"

interface Leftover {
  readonly file: string
  readonly length: number
  readonly isTorn: boolean
}

const filesIn = (directory: string) =>
  readdirSync(directory)
    .flatMap((name) => {
      const match = journalPattern.exec(name)
      return match === null ? [] : [{ file: path.join(directory, name), number: Number(match[1]) }]
    })
    .sort((a, b) => a.number - b.number)

/** Judges the files in order. `lastTakenUp` is the number of the last entry that the database has. */
const judge = (files: ReturnType<typeof filesIn>, lastTakenUp: number) => {
  const leftovers: Array<Leftover> = []
  let last: number | undefined
  for (const [index, { file, number }] of files.entries()) {
    const contents = readJournal(readFileSync(file), number, index === files.length - 1)
    if ("problem" in contents) return new LedgerDamaged({ file, problem: contents.problem })
    const numbers = contents.groups.flatMap((group) => group.entries.map((entry) => entry.sequence))
    // the first file may hold what the database has already, when the last stop came between taking up and removing
    last ??= numbers[0] === undefined ? undefined : Math.min(numbers[0] - 1, lastTakenUp)
    const gap = last === undefined ? undefined : gapIn(numbers, last)
    if (gap !== undefined) return new LedgerDamaged({ file, problem: gap })
    last = numbers.at(-1) ?? last
    leftovers.push({ file, length: contents.length, isTorn: contents.isTorn })
  }
  return { leftovers, last: Math.max(last ?? 0, lastTakenUp) }
}

const cut = ({ file, length }: Leftover) => {
  const fd = openSync(file, "r+")
  try {
    ftruncateSync(fd, length)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Leaves the database with every durable group, and no journal. Returns the number of the next journal file. */
export const recover = Effect.fn("EmbeddedStore.recover")(function* (directory: string, database: LedgerDatabase) {
  const unavailable = (cause: unknown) => new LedgerUnavailable({ action: "be recovered from its journal", cause })
  const attempt = <A>(run: () => A) => Effect.try({ try: run, catch: unavailable })
  const query = <A>(effect: Effect.Effect<A, DatabaseError>) => Effect.mapError(effect, unavailable)

  const files = yield* attempt(() => filesIn(directory))
  const lastTakenUp = yield* query(database.sequence)
  const judged = yield* attempt(() => judge(files, lastTakenUp))
  if (judged instanceof LedgerDamaged) return yield* judged

  for (const leftover of judged.leftovers) {
    yield* attempt(() => cut(leftover))
    if (leftover.isTorn) {
      yield* Effect.logWarning(
        `The last group in ${leftover.file}, at byte ${leftover.length}, was not written to its end and is dropped. Nobody was told that it was charged.`
      )
    }
    if (leftover.length > 0) yield* query(database.takeUp(leftover.file))
  }
  const reached = yield* query(database.sequence)
  if (reached !== judged.last) {
    const problem = `the journal reaches entry ${judged.last}, and the database entry ${reached} after taking it up`
    return yield* new LedgerDamaged({ file: directory, problem })
  }
  yield* attempt(() => {
    for (const { file } of files) removeDurably(file, directory)
  })
  return (files.at(-1)?.number ?? 0) + 1
})
