/**
 * Logs that the database went away and came back: the first change at once, and those that follow within ten seconds as one
 * line. A full disk lets the server rejoin and refuses the next charge, many times a second.
 */
import { Effect, FiberSet } from "effect"
import type { LedgerUnavailable } from "../errors.ts"

const quietFor = "10 seconds"

const lostNow = ({ message }: LedgerUnavailable) => `${message}. Calls are refused, and not charged, until it is back.`
const times = (count: number) => `It was lost ${count} more time${count === 1 ? "" : "s"} in ten seconds.`

/** What is not logged yet is logged when the scope ends. */
export const outageLog = Effect.gen(function* () {
  const run = yield* FiberSet.makeRuntime()
  let isQuiet = false
  /** Why the database is away. */
  let cause: LedgerUnavailable | undefined
  let notLogged = 0

  const logRest = Effect.suspend(() => {
    const count = notLogged
    notLogged = 0
    if (count === 0) return Effect.void
    return cause === undefined
      ? Effect.logInfo(`The ledger is back. ${times(count)}`)
      : Effect.logWarning(`${lostNow(cause)} ${times(count)}`)
  })
  const beQuiet = Effect.gen(function* () {
    yield* Effect.sleep(quietFor)
    while (notLogged > 0) {
      yield* logRest
      yield* Effect.sleep(quietFor)
    }
    isQuiet = false
  })
  yield* Effect.addFinalizer(() => logRest)

  return {
    lost: (why: LedgerUnavailable): void => {
      cause = why
      if (isQuiet) {
        notLogged++
        return
      }
      isQuiet = true
      run(Effect.andThen(Effect.logWarning(lostNow(why)), beQuiet))
    },
    found: (): void => {
      cause = undefined
      if (notLogged === 0) run(Effect.logInfo("The ledger is back."))
    }
  }
})
