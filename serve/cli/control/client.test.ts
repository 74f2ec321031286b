import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Administration, embeddedConsole, LedgerFile, openLedgerFile, openLedgerInFile } from "../../ledger/index.ts"
import { administerPeople, People } from "../../people/index.ts"
import { findRunningServer } from "./client.ts"
import { serveControl } from "./server.ts"
import { controlFileIn } from "./wire.ts"

const temporaryDirectory = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-control-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => path.join(folder, "ledger")
)

const openServer = Effect.fnUntraced(function* (change: Partial<Administration["Service"]> = {}) {
  const folder = yield* temporaryDirectory
  const file = yield* openLedgerFile(folder)
  const ledger = yield* openLedgerInFile(file)
  const administration = Administration.of({ ...ledger.administration, ...change })
  const tables = Layer.provide(embeddedConsole, Layer.succeed(LedgerFile, file))
  const people = yield* administerPeople(() => "http://console.example").pipe(
    Effect.provideService(Administration, administration),
    Effect.provide(yield* Layer.build(Layer.provide(People.layer, tables)))
  )
  yield* serveControl(folder, administration, people)
  return { folder, local: administration }
})

/** The administration inside the server (`local`), and through the control channel (`remote`). */
const startServer = Effect.gen(function* () {
  const { folder, local } = yield* openServer()
  const server = yield* findRunningServer(folder)
  if (Option.isNone(server)) return yield* Effect.die("no server responds")
  return { local, remote: server.value.administration }
})

/** A server that accepts connections and is silent, like a stopped process. */
const startSilentServer = Effect.gen(function* () {
  const folder = yield* temporaryDirectory
  const sockets: Array<Socket> = []
  const server = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1")
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
  )
  yield* Effect.promise(() => once(server, "listening"))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  mkdirSync(folder)
  writeFileSync(controlFileIn(folder), JSON.stringify({ url, token: "t" }))
  /** Runs `request`, and moves the clock once the request has arrived. */
  const waitInVain = <A, E>(request: Effect.Effect<A, E>, time: "1 second" | "30 seconds") =>
    Effect.gen(function* () {
      const connected = once(server, "connection")
      const running = yield* Effect.forkChild(request)
      yield* Effect.promise(() => connected)
      yield* TestClock.adjust(time)
      return yield* Fiber.join(running)
    })
  return { folder, waitInVain }
})

describe("a server that is silent", () => {
  it.effect("ends a command after 30 seconds; a change says that it may have been made, and how to look", () =>
    Effect.gen(function* () {
      const { folder, waitInVain } = yield* startSilentServer
      const server = yield* waitInVain(findRunningServer(folder), "1 second")
      if (Option.isNone(server)) return yield* Effect.die("the silent server was not found")
      const { administration, people } = server.value
      const wait = <A, E>(request: Effect.Effect<A, E>) => waitInVain(Effect.flip(request), "30 seconds")
      const silent = "The server has not answered for 30 seconds."
      const credit = yield* wait(administration.creditAccount({ account_id: "acct_a", credits: 1, note: "n" }))
      assert.include(
        credit.message,
        `${silent} The command may have been carried out. Check with: larder-serve ledger export --account ID.`
      )
      const invited = yield* wait(people.invitePerson({ account_id: "acct_a", email: null, is_operator: false }))
      assert.include(
        invited.message,
        `${silent} The command may have been carried out. Check with: larder-serve people`
      )
      assert.strictEqual((yield* wait(administration.listAccounts({}))).message, silent)
    }).pipe(Effect.scoped)
  )

  it.effect("is distinguished from one that works for long, which sends an empty line every ten seconds", () =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      const verification = { accounts: 0, keys: 0, entries: 0, balance_credits: 0, problems: [] }
      const { folder } = yield* openServer({ verify: () => Effect.as(Deferred.await(done), verification) })
      const { token, url } = JSON.parse(readFileSync(controlFileIn(folder), "utf8"))
      const response = yield* Effect.promise(() =>
        fetch(`${url}/verify`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify({ user: "root", input: {} })
        })
      )
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      const read = Effect.promise(async () => (await reader?.read())?.value)
      for (let line = 0; line < 4; line++) {
        assert.strictEqual(yield* read, "\n")
        yield* TestClock.adjust("10 seconds")
      }
      yield* Deferred.succeed(done, undefined)
      let rest = ""
      for (let text = yield* read; text !== undefined; text = yield* read) rest += text
      assert.strictEqual(rest.trim(), `${JSON.stringify({ value: verification })}\n{"end":true}`)
    }).pipe(Effect.scoped)
  )
})

describe("the ledger of a running server", () => {
  it.live("returns the same results as inside the server", () =>
    Effect.gen(function* () {
      const { local, remote } = yield* startServer
      const { id } = yield* remote.createAccount({ name: "A" })
      const booking = { account_id: id, type: "top_up", credits: 50_000, reference: "pay_1", note: "paid" } as const
      assert.deepStrictEqual(yield* remote.book(booking), { booked: true, balance_credits: 55_000 })
      assert.deepStrictEqual(yield* remote.book(booking), { booked: false, balance_credits: 55_000 })
      const refund = { ...booking, type: "refund", credits: -60_000, reference: "re_1" } as const
      assert.deepStrictEqual(yield* remote.book(refund), { booked: true, balance_credits: -5_000 })
      assert.deepStrictEqual(yield* remote.account({ account_id: id }), yield* local.account({ account_id: id }))
      const all = yield* Stream.runCollect(remote.entriesOf(id))
      assert.strictEqual(all.length, 3)
      const page = { account_id: id, before: null, limit: 2 }
      assert.deepStrictEqual(yield* remote.entriesBefore(page), all.toReversed().slice(0, 2))
      assert.deepStrictEqual(yield* remote.entriesBefore({ ...page, before: 3, types: ["grant"] }), all.slice(0, 1))
      const days = { account_id: id, from: "2026-01-01", to: "2026-12-31", key_id: "key_none" }
      assert.deepStrictEqual(yield* remote.summedUsage(days), { by_day: [], by_key: [], by_endpoint: [] })
    }).pipe(Effect.scoped)
  )

  it.live("fails with the same errors as inside the server", () =>
    Effect.gen(function* () {
      const { remote } = yield* startServer
      const [account, otherAccount] = [
        yield* remote.createAccount({ name: "A" }),
        yield* remote.createAccount({ name: "B" })
      ]
      const booking = { account_id: account.id, type: "top_up", credits: 1, reference: "pay_1", note: "paid" } as const
      yield* remote.book(booking)
      const error = yield* Effect.flip(remote.book({ ...booking, account_id: otherAccount.id }))
      assert.strictEqual(error._tag, "ReferenceTaken")
      assert.match(error.message, /^top_up pay_1 is already booked for another account/)
      assert.strictEqual((yield* Effect.flip(remote.account({ account_id: "acct_none" })))._tag, "UnknownAccount")
      const tooMany = { account_id: account.id, before: null, limit: 1_001 }
      assert.strictEqual((yield* Effect.exit(remote.entriesBefore(tooMany)))._tag, "Failure")
    }).pipe(Effect.scoped)
  )
})
