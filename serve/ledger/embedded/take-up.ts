/**
 * Takes sealed journal files up into the database, in order, and renews its snapshot when enough has come. What cannot be
 * taken up now waits in its file, where it is durable; it is tried again until it goes.
 */
import { Effect, Queue, Semaphore } from "effect"
import { LedgerDamaged, type LedgerUnavailable, unavailable } from "../errors.ts"
import { removeDurably } from "../files.ts"
import type { LedgerDatabase } from "./ledger-database.ts"
import { renewSnapshot } from "./snapshot.ts"
import { takeUp } from "./tables.ts"

const nextTry = "5 seconds"

export const makeTakeUp = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly database: LedgerDatabase
  /** The oldest file that was sealed is in the database. */
  readonly onTakenUp: () => void
  /** Takes the file back for the journal, or says no. */
  readonly reuse: (file: string) => boolean
  readonly entriesBetweenSnapshots?: number | undefined
}) {
  const { database, directory, onTakenUp, reuse } = options
  const sealed: Array<string> = []
  const wake = yield* Queue.sliding<void>(1)
  const oneAtATime = yield* Semaphore.make(1)

  const all = Effect.gen(function* () {
    for (let file = sealed[0]; file !== undefined; file = sealed[0]) {
      const next = file
      yield* database
        .use((db) => db.run(takeUp(next)))
        .pipe(Effect.mapError(unavailable("be taken up from its journal")))
      sealed.shift() // a file that stays although it was taken up harms nobody: the next start finds nothing new in it
      onTakenUp()
      yield* Effect.try({
        try: () => reuse(next) || removeDurably(next, directory),
        catch: unavailable("be tidied")
      })
    }
  }).pipe(oneAtATime.withPermit)

  let isDamaged = false
  const renew = Effect.gen(function* () {
    if (isDamaged) return
    const [problem] = yield* database
      .use((db) => renewSnapshot(db, options.entriesBetweenSnapshots))
      .pipe(Effect.mapError(unavailable("take a snapshot")))
    if (problem === undefined) return
    isDamaged = true
    const { message } = new LedgerDamaged({ place: database.file, problem })
    yield* Effect.logError(`${message} Charges go on; the next start refuses to open it.`)
  })

  const later = (error: LedgerUnavailable) =>
    Effect.logWarning(`${error.message}. Charges go on and are durable; ${sealed.length} journal files wait.`)

  return {
    add: (file: string): void => {
      sealed.push(file)
      Queue.offerUnsafe(wake, undefined)
    },
    /** Files that are not in the database yet, in order; the first one may be on its way. */
    waiting: (): ReadonlyArray<string> => sealed,
    /** Returns when every file that was sealed is in the database. */
    all,
    inBackground: Effect.suspend(() => {
      Queue.offerUnsafe(wake, undefined) // what was recovered at the start may be worth a snapshot
      return Queue.take(wake).pipe(
        Effect.andThen(all),
        Effect.andThen(renew),
        Effect.catch((error) =>
          Effect.andThen(later(error), Effect.delay(Queue.offer(wake, undefined), nextTry)).pipe(Effect.asVoid)
        ),
        Effect.forever,
        Effect.forkScoped
      )
    })
  }
})
