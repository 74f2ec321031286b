/** The anchor of a ledger in PostgreSQL, which several servers write, and backups that are compared with it. */
import { mkdirSync } from "node:fs"
import path from "node:path"
import type { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import {
  type Anchor,
  type AnchorPlace,
  anchorPlace,
  connect,
  createConsoleTables,
  keepDatabaseAnchor,
  verifyDatabase,
  verifyFile
} from "@larder/serve/ledger"
import { Effect, Fiber, Logger, Option, Redacted } from "effect"
import { temporaryFolder, withDatabase } from "../support/serve/sample-ledger.ts"
import { startFaultyProxy } from "./faulty-proxy.ts"
import { admit, database, folder, makeKey, open } from "./shared-ledger.ts"

const makeAnchorPlace = (folder: string, name = "anchor.json"): AnchorPlace =>
  anchorPlace(Redacted.make(path.join(folder, name)))
const readAnchor = (place: AnchorPlace) => Effect.map(place.read, Option.getOrThrow)

/** Connects like a server, and maintains the anchor until the scope ends. */
const connectWithAnchor = Effect.fnUntraced(function* (url: string, place: AnchorPlace) {
  const sql = yield* connect(Redacted.make(url))
  yield* keepDatabaseAnchor(sql, Option.some(place), Effect.void)
  return sql
})

const waitUntilAnchored = Effect.fnUntraced(function* (place: AnchorPlace, isEnough: (anchor: Anchor) => boolean) {
  for (;;) {
    const anchor = Option.getOrUndefined(yield* place.read)
    if (anchor !== undefined && isEnough(anchor)) return anchor
    yield* Effect.sleep("20 millis")
  }
})

const pay = (sql: PgClient.PgClient, id: string, problem: string | null = null) =>
  sql.unsafe(
    `insert into console.payment (id, account_id, kind, cents, state, processor, problem, created_at)
    values ($1, 'acct_x', 'top_up', 5000, 'open', 'stripe', $2, '2026-10-30T00:00:00.000Z')`,
    [id, problem]
  )

describe("the anchor of a ledger in PostgreSQL", () => {
  it.live("is the same for two servers that write concurrently, even if an earlier transaction commits late", () =>
    Effect.gen(function* () {
      const url = yield* database
      const home = yield* temporaryFolder
      const places = [makeAnchorPlace(home, "here.json"), makeAnchorPlace(home, "there.json")]
      const ledgers = yield* Effect.all([open(url), open(url)])
      const observer = yield* connect(Redacted.make(url))
      yield* createConsoleTables(observer)
      const keys = yield* Effect.all(ledgers.map((ledger) => makeKey(ledger)))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.forEach(places, (place) => connectWithAnchor(url, place))
          const late = yield* Effect.andThen(pay(observer, "pay_late"), Effect.sleep("1200 millis")).pipe(
            observer.withTransaction,
            Effect.forkChild
          )
          const rolledBack = Effect.andThen(pay(observer, "pay_none"), Effect.fail("not this one"))
          yield* Effect.ignore(observer.withTransaction(rolledBack))
          yield* Effect.promise(() =>
            Promise.all(
              Array.from({ length: 200 }, async (_, call) => {
                const ledger = ledgers[call % 2]
                const key = keys[call % 3 === 0 ? 0 : 1]
                if (ledger === undefined || key === undefined) throw new Error("there are two")
                await (await admit(ledger, key, 10)).commit(`req_${call}`)
              })
            )
          )
          yield* pay(observer, "pay_early")
          yield* Fiber.join(late)
          yield* Effect.forEach(places, (place) => waitUntilAnchored(place, ({ entries }) => entries === 202))
        })
      )
      const [one, other] = yield* Effect.forEach(places, readAnchor)
      if (one === undefined) throw new Error("no anchor")
      assert.deepStrictEqual({ ...other, at: "" }, { ...one, at: "" })
      assert.deepStrictEqual([one.entries, one.records], [202, 6])
      const verification = yield* verifyDatabase(observer, one)
      assert.deepStrictEqual(verification.problems, [])
      assert.deepStrictEqual(verification.younger_than_anchor, { entries: 0, records: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("verifies a backup in a file, even with unusual characters in names and problems", () =>
    Effect.gen(function* () {
      const url = yield* database
      const home = yield* folder
      const place = makeAnchorPlace(home)
      const ledger = yield* open(url)
      const sql = yield* connectWithAnchor(url, place)
      yield* createConsoleTables(sql)
      const { administration } = ledger
      const { id: account_id } = yield* administration.createAccount({ name: `Ünï "quoted" \\ 🧀 </script> \u2028` })
      const key = yield* administration.createKey({
        account_id,
        name: "k",
        scopes: ["get-store", "get-product"],
        budget_credits: 9_000_000_000_000_000,
        expires_at: "2100-01-31T00:00:00.000Z"
      })
      yield* administration.editKey({ key_id: key.id, name: "renamed", expires_at: null })
      yield* administration.revokeKey({ key_id: key.id })
      yield* pay(sql, "pay_1", "line one\nline two\t\u0001 ünd \u007f")
      yield* pay(sql, "pay_2")
      yield* sql.unsafe("update console.payment set state = 'failed', settled_at = 'x' where id = 'pay_1'")
      yield* sql.unsafe("delete from console.payment where id = 'pay_2'")
      yield* administration.creditAccount({ account_id, credits: 1, note: "after the records" })
      const anchor = yield* waitUntilAnchored(place, ({ entries, records }) => entries === 2 && records === 8)
      assert.deepStrictEqual((yield* verifyDatabase(sql, anchor)).problems, [])

      mkdirSync(path.join(home, "ledger"), { mode: 0o700 })
      yield* administration.backup({ file: path.join(home, "ledger", "ledger.sqlite") })
      const verification = yield* withDatabase(path.join(home, "ledger"), (sqlite) =>
        verifyFile(sqlite, { sequence: 0, heads: new Map() }, anchor)
      )
      assert.deepStrictEqual(verification.problems, [])
      assert.deepStrictEqual(verification.younger_than_anchor, { entries: 0, records: 0 })
    }).pipe(Effect.scoped)
  )

  const collectMessages = () => {
    const messages: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => messages.push(String(message)))])
    return { messages, logger }
  }

  it.live("does not cover what was written without a server: the next start logs this, and continues from there", () =>
    Effect.gen(function* () {
      const url = yield* database
      const place = makeAnchorPlace(yield* folder)
      const ledger = yield* open(url)
      yield* makeKey(ledger)
      yield* Effect.scoped(connectWithAnchor(url, place))
      const before = yield* readAnchor(place)
      yield* makeKey(ledger)
      const { logger, messages } = collectMessages()
      yield* Effect.scoped(connectWithAnchor(url, { ...place, write: () => Effect.void })).pipe(Effect.provide(logger))
      assert.match(messages.join("\n"), /1 entries and 2 records of .* are newer than the anchor of/)
      // the chain was followed, and still passes through the older anchor
      yield* Effect.scoped(connectWithAnchor(url, place))
      const { entries, records } = yield* readAnchor(place)
      assert.deepStrictEqual([entries - before.entries, records - before.records], [1, 2])
    }).pipe(Effect.scoped)
  )

  it.live("is never replaced once the database has lost its end under a running server, which warns once", () =>
    Effect.gen(function* () {
      const url = yield* database
      const place = makeAnchorPlace(yield* folder)
      const ledger = yield* open(url)
      const { account_id } = yield* makeKey(ledger)
      const { logger, messages } = collectMessages()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const sql = yield* connectWithAnchor(url, place)
          const anchor = yield* waitUntilAnchored(place, ({ records }) => records === 2)
          yield* sql.unsafe("delete from ledger.record where kind = 'api_key'")
          yield* sql.unsafe("update ledger.head set records = 1, sequence = sequence - 1, hash = ''")
          yield* ledger.administration.creditAccount({ account_id, credits: 1, note: "afterwards" })
          yield* Effect.sleep("2500 millis")
          assert.deepStrictEqual(yield* readAnchor(place), anchor)
        })
      ).pipe(Effect.provide(logger))
      const warnings = messages.filter((message) =>
        /its chain does not reach entry 1 and record 2 any more/.test(message)
      )
      assert.strictEqual(warnings.length, 1, messages.join("\n"))
    }).pipe(Effect.scoped)
  )

  it.live("waits while the database is unavailable, which is logged once", () =>
    Effect.gen(function* () {
      const url = yield* database
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startFaultyProxy(url)),
        ({ close }) => Effect.promise(close)
      )
      const place = makeAnchorPlace(yield* folder)
      const ledger = yield* open(url)
      yield* makeKey(ledger)
      const { logger, messages } = collectMessages()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* connectWithAnchor(proxy.url, place)
          yield* waitUntilAnchored(place, ({ entries }) => entries === 1)
          proxy.cut()
          yield* makeKey(ledger)
          yield* Effect.sleep("3 seconds")
          proxy.repair()
          yield* waitUntilAnchored(place, ({ entries }) => entries === 2)
        })
      ).pipe(Effect.provide(logger))
      const warnings = messages.filter((message) => message.includes("new entries are not anchored"))
      assert.strictEqual(warnings.length, 1, messages.join("\n"))
    }).pipe(Effect.scoped)
  )
})
