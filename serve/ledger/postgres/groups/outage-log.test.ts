import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { toLedgerUnavailable } from "../../errors.ts"
import { makeOutageLog } from "./outage-log.ts"

const full = toLedgerUnavailable("be written")(new Error("No space left on device"))
const away =
  "The ledger cannot be written: No space left on device. Calls are refused, and not charged, until it is back."

/** `said` returns what was logged since its last call. */
const begin = Effect.gen(function* () {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => lines.push(String(message)))
  const scope = yield* Scope.make()
  const log = yield* makeOutageLog.pipe(Scope.provide(scope), Effect.provide(Logger.layer([logger])))
  const said = Effect.as(Effect.yieldNow, lines).pipe(Effect.map((said) => said.splice(0)))
  return { log, said, end: Scope.close(scope, Exit.void) }
})

describe("the log of outages", () => {
  it.effect("logs the first loss and the first return immediately", () =>
    Effect.gen(function* () {
      const { log, said } = yield* begin
      log.lost(full)
      assert.deepStrictEqual(yield* said, [away])
      log.found()
      assert.deepStrictEqual(yield* said, ["The ledger is back."])
    })
  )

  it.effect("logs in one line every ten seconds how often the database was lost", () =>
    Effect.gen(function* () {
      const { log, said } = yield* begin
      for (let time = 0; time < 250; time++) {
        log.lost(full)
        log.found()
      }
      assert.deepStrictEqual(yield* said, [away, "The ledger is back."])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* said, ["The ledger is back. It was lost 249 more times in ten seconds."])
      log.lost(full)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* said, [`${away} It was lost 1 more time in ten seconds.`])
      log.found()
      assert.deepStrictEqual(yield* said, ["The ledger is back."])
    })
  )

  it.effect("logs each loss immediately after ten quiet seconds", () =>
    Effect.gen(function* () {
      const { log, said } = yield* begin
      log.lost(full)
      yield* TestClock.adjust("30 seconds")
      log.found()
      assert.deepStrictEqual(yield* said, [away, "The ledger is back."])
      log.lost(full)
      assert.deepStrictEqual(yield* said, [away])
    })
  )

  it.effect("logs everything when the server stops", () =>
    Effect.gen(function* () {
      const { end, log, said } = yield* begin
      log.lost(full)
      log.found()
      log.lost(full)
      yield* said
      yield* end
      assert.deepStrictEqual(yield* said, [`${away} It was lost 1 more time in ten seconds.`])
    })
  )
})
