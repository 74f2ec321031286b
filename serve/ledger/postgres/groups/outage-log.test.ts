import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { toLedgerUnavailable } from "../../errors.ts"
import { makeOutageLog } from "./outage-log.ts"

const diskFull = toLedgerUnavailable("be written")(new Error("No space left on device"))
const lossMessage =
  "The ledger cannot be written: No space left on device. Calls are refused, and not charged, until it is back."

/** `logs` returns what was logged since its last call. */
const openLog = Effect.gen(function* () {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => lines.push(String(message)))
  const scope = yield* Scope.make()
  const log = yield* makeOutageLog.pipe(Scope.provide(scope), Effect.provide(Logger.layer([logger])))
  const logs = Effect.as(Effect.yieldNow, lines).pipe(Effect.map((logged) => logged.splice(0)))
  return { log, logs, end: Scope.close(scope, Exit.void) }
})

describe("the log of outages", () => {
  it.effect("logs the first loss and the first return immediately", () =>
    Effect.gen(function* () {
      const { log, logs } = yield* openLog
      log.lost(diskFull)
      assert.deepStrictEqual(yield* logs, [lossMessage])
      log.restored()
      assert.deepStrictEqual(yield* logs, ["The ledger is back."])
    })
  )

  it.effect("logs the number of losses in one line every ten seconds", () =>
    Effect.gen(function* () {
      const { log, logs } = yield* openLog
      for (let time = 0; time < 250; time++) {
        log.lost(diskFull)
        log.restored()
      }
      assert.deepStrictEqual(yield* logs, [lossMessage, "The ledger is back."])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* logs, ["The ledger is back. It was lost 249 more times in ten seconds."])
      log.lost(diskFull)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* logs, [`${lossMessage} It was lost 1 more time in ten seconds.`])
      log.restored()
      assert.deepStrictEqual(yield* logs, ["The ledger is back."])
    })
  )

  it.effect("logs each loss immediately after ten quiet seconds", () =>
    Effect.gen(function* () {
      const { log, logs } = yield* openLog
      log.lost(diskFull)
      yield* TestClock.adjust("30 seconds")
      log.restored()
      assert.deepStrictEqual(yield* logs, [lossMessage, "The ledger is back."])
      log.lost(diskFull)
      assert.deepStrictEqual(yield* logs, [lossMessage])
    })
  )

  it.effect("logs everything when the server stops", () =>
    Effect.gen(function* () {
      const { end, log, logs } = yield* openLog
      log.lost(diskFull)
      log.restored()
      log.lost(diskFull)
      yield* logs
      yield* end
      assert.deepStrictEqual(yield* logs, [`${lossMessage} It was lost 1 more time in ten seconds.`])
    })
  )
})
