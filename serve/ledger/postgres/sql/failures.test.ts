import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { PgPool } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { classifyFailure, hasSqlState, isConnectionLost, NoResponse } from "./failures.ts"

const withCode = (code: string) => Object.assign(new Error("failed"), { code })
const fromSocket = (code: string) =>
  new SqlError({ reason: new ConnectionError({ cause: withCode(code), message: "lost", operation: "query" }) })

describe("a failure of the database", () => {
  it.each([
    ["a mistake of ours", new TypeError("undefined is not a function"), "unexpected"],
    ["a mistake with a code of Node", withCode("ERR_INVALID_ARG_TYPE"), "unexpected"],
    ["a broken pipe", fromSocket("EPIPE"), "lost"],
    ["a refused connection", fromSocket("ECONNREFUSED"), "lost"],
    ["no response", new NoResponse("no response within 5 seconds"), "lost"]
  ])("is not an answer of the database: %s", (_, error, expected) => {
    assert.isFalse(hasSqlState(error)) // a COMMIT that was sent may have succeeded
    assert.strictEqual(classifyFailure(error), expected)
  })

  it.each([
    ["08006", "lost"],
    ["57P01", "lost"],
    ["40P01", "rolled back"],
    ["55P03", "locked"],
    ["23505", "refused"],
    ["53100", "full"],
    ["42703", "unexpected"],
    ["XX000", "unexpected"]
  ])("is an answer of the database with SQL state %s", (code, expected) => {
    assert.isTrue(hasSqlState(withCode(code)))
    assert.strictEqual(classifyFailure(withCode(code)), expected)
  })
})

describe("a server that accepts a connection and never answers", () => {
  it.live("is no response, so that the work is not tried on a new connection", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const silent = createServer().listen(0, "127.0.0.1")
          await once(silent, "listening")
          return silent
        }),
        (silent) => Effect.sync(() => silent.close())
      )
      const { port } = server.address() as AddressInfo // it listens on TCP
      const url = Redacted.make(`postgres://larder@127.0.0.1:${port}/larder`)
      const pool = yield* PgPool.make({ url, connectTimeout: 50, maxConnections: 1 })
      const error = yield* Effect.flip(pool.use((connection) => connection.query("select")))
      assert.strictEqual(classifyFailure(error), "lost")
      assert.isFalse(isConnectionLost(error))
    }).pipe(Effect.scoped)
  )
})
