/**
 * What happens when the ledger opens. The database is checked from its snapshot on, and all journal files are read and
 * judged, before anything is changed: a torn group at the very end is cut off and reported, damage refuses to open. Then
 * the files are taken up and removed.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { Effect } from "effect"
import { LedgerDamaged, unavailable } from "../errors.ts"
import { removeDurably } from "../files.ts"
import { journalPattern } from "./journal.ts"
import { breakIn, type Place } from "./journal-chain.ts"
import { readJournal } from "./journal-reading.ts"
import { backgroundSettings, type LedgerDatabase } from "./ledger-database.ts"
import { checkOn, checkSinceSnapshot, headsIn, moneyOutIn, readState } from "./opening.ts"
import { takeUp } from "./tables.ts"

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

/** Judges the files in order, and moves `place` to where they lead. */
const judge = (files: ReturnType<typeof filesIn>, place: Place) => {
  const leftovers: Array<Leftover> = []
  for (const [index, { file, number }] of files.entries()) {
    const contents = readJournal(readFileSync(file), number, index === files.length - 1)
    if ("problem" in contents) return new LedgerDamaged({ place: file, problem: contents.problem })
    const problem = breakIn(contents.groups, place)
    if (problem !== undefined) return new LedgerDamaged({ place: file, problem })
    leftovers.push({ file, length: contents.length, isTorn: contents.isTorn })
  }
  return leftovers
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

const notRecovered = unavailable("be recovered from its journal")
const attempt = <A>(run: () => A) => Effect.try({ try: run, catch: notRecovered })

/** Leaves the database with every durable group, and no journal. Returns the state and the number of the next journal file. */
export const recover = Effect.fn("EmbeddedStore.recover")(
  function* (directory: string, { file, use }: LedgerDatabase) {
    const files = yield* attempt(() => filesIn(directory))
    yield* use((db) => db.run("set threads = 4")) // nothing else is served yet
    const lastTakenUp = yield* use((db) => checkSinceSnapshot(db, file))
    const heads = yield* use((db) => headsIn(db, "opening"))
    const place: Place = { lastTakenUp, last: undefined, heads, moneyOut: yield* use(moneyOutIn) }
    const leftovers = yield* attempt(() => judge(files, place))
    if (leftovers instanceof LedgerDamaged) return yield* leftovers

    for (const leftover of leftovers) {
      yield* attempt(() => cut(leftover))
      if (leftover.isTorn) {
        yield* Effect.logWarning(
          `The last group in ${leftover.file}, at byte ${leftover.length}, was not written to its end and is dropped. Nobody was told that it was charged.`
        )
      }
      if (leftover.length > 0) yield* use((db) => db.run(takeUp(leftover.file)))
    }
    const state = yield* use((db) =>
      Effect.flatMap(checkOn(db, file, lastTakenUp), (reached) => readState(db, file, reached))
    )
    yield* use((db) => db.run(backgroundSettings))
    const written = Math.max(place.last ?? 0, lastTakenUp)
    if (state.sequence !== written) {
      const problem = `the journal reaches entry ${written}, and the database entry ${state.sequence} after taking it up`
      return yield* new LedgerDamaged({ place: directory, problem })
    }
    yield* attempt(() => {
      for (const { file } of files) removeDurably(file, directory)
    })
    return { state, nextJournal: (files.at(-1)?.number ?? 0) + 1 }
  },
  Effect.catchTag(["DuckDbError", "FileInUse", "NotADatabase"], (cause) => Effect.fail(notRecovered(cause)))
)
