import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { type AdministrationError, LedgerUnavailable } from "../../ledger/index.ts"
import { explainLostAnswers, openDatabase } from "./database.ts"

type Run = () => Effect.Effect<never, AdministrationError>

/** The message of each operation if all of them do this. */
const runAll = (run: Run) => {
  const operations = explainLostAnswers({ createAccount: run, listAccounts: run })
  const messages = Object.values(operations).map((operation) => Effect.map(Effect.flip(operation()), String))
  return Effect.all(messages, { concurrency: "unbounded" })
}
const refuse = (cause: unknown) => () => Effect.fail(new LedgerUnavailable({ action: "be written", cause }))

describe("a database that does not answer", () => {
  it.effect("ends a command after 30 seconds, even during a commit, which cannot be interrupted", () =>
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(runAll(() => Effect.uninterruptible(Effect.never)))
      yield* TestClock.adjust("30 seconds")
      const [create, list] = yield* Fiber.join(running)
      assert.include(
        create,
        "The database has not answered for 30 seconds. The command may have been carried out. Check"
      )
      assert.include(list, "The database has not answered for 30 seconds.")
      assert.notInclude(list, "carried out")
    })
  )

  it.effect("ends a verification when it answers no other statement for 30 seconds", () =>
    Effect.gen(function* () {
      const { verify } = explainLostAnswers({ verify: () => Effect.uninterruptible(Effect.never) }, Effect.never)
      const running = yield* Effect.forkChild(Effect.flip(verify()))
      yield* TestClock.adjust("30 seconds")
      assert.include(String(yield* Fiber.join(running)), "The database has not answered for 30 seconds.")
    })
  )

  it.effect("has no time limit for a verification and a backup while it answers", () =>
    Effect.gen(function* () {
      const slow = () => Effect.as(Effect.sleep("1 hour"), "done")
      const { backup, verify } = explainLostAnswers({ backup: slow, verify: slow }, Effect.sleep("20 seconds"))
      const running = yield* Effect.forkChild(Effect.all([backup(), verify()], { concurrency: 2 }))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.join(running), ["done", "done"])
    })
  )

  it.effect("does not keep a command from ending, although its connections do not close", () =>
    Effect.gen(function* () {
      const connection = Effect.acquireRelease(Effect.succeed("open"), () => Effect.never)
      const command = Effect.scoped(openDatabase<string, never, Scope.Scope>(connection))
      const running = yield* Effect.forkChild(command)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(running), "open")
    })
  )
})

describe("a lost connection to the database", () => {
  it.effect("says that a change may have been made, unless the database has refused it", () =>
    Effect.gen(function* () {
      const closed = new Error("Connection closed")
      const reset = Object.assign(new Error("Connection closed"), { code: "ECONNRESET" })
      const ended = ["08006", "57P01"].map((code) => Object.assign(new Error("Connection closed"), { code }))
      for (const cause of [closed, reset, ...ended]) {
        const [lost] = yield* runAll(refuse(cause))
        assert.include(lost, "be written: Connection closed. The command may have been carried out. Check with:")
      }
      const diskFull = Object.assign(new Error("the disk is full"), { code: "53100" })
      const [refused] = yield* runAll(refuse(diskFull))
      assert.match(String(refused), /be written: the disk is full$/)
    })
  )
})
