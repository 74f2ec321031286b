/**
 * Logs that the database became unavailable or is back: the first change immediately, those within the next ten seconds
 * as one line. With a full disk, reads succeed, but the next charge is refused, many times a second.
 */
import { Effect, FiberSet } from "effect"
import type { LedgerUnavailable } from "../../errors.ts"

const quietInterval = "10 seconds"

const formatLoss = ({ message }: LedgerUnavailable) =>
  `${message}. Calls are refused, and not charged, until it is back.`
const formatCount = (count: number) => `It was lost ${count} more time${count === 1 ? "" : "s"} in ten seconds.`

/** Closing the scope logs the changes that were not logged. */
export const makeOutageLog = Effect.gen(function* () {
  const run = yield* FiberSet.makeRuntime()
  let isQuiet = false
  let cause: LedgerUnavailable | undefined
  let notLogged = 0

  const logRest = Effect.suspend(() => {
    const count = notLogged
    notLogged = 0
    if (count === 0) return Effect.void
    return cause === undefined
      ? Effect.logInfo(`The ledger is back. ${formatCount(count)}`)
      : Effect.logWarning(`${formatLoss(cause)} ${formatCount(count)}`)
  })
  const logLater = Effect.gen(function* () {
    yield* Effect.sleep(quietInterval)
    while (notLogged > 0) {
      yield* logRest
      yield* Effect.sleep(quietInterval)
    }
    isQuiet = false
  })
  yield* Effect.addFinalizer(() => logRest)

  return {
    lost: (error: LedgerUnavailable): void => {
      cause = error
      if (isQuiet) {
        notLogged++
        return
      }
      isQuiet = true
      run(Effect.andThen(Effect.logWarning(formatLoss(error)), logLater))
    },
    restored: (): void => {
      cause = undefined
      if (notLogged === 0) run(Effect.logInfo("The ledger is back."))
    }
  }
})
