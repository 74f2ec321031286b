import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { Administration, embeddedConsole, LedgerFile, openLedgerFile, openLedgerInFile } from "../../ledger/index.ts"
import { administerPeople, People } from "../../people/index.ts"
import { findRunningServer } from "./client.ts"
import { serveControl } from "./server.ts"

const temporaryDirectory = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-control-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => path.join(folder, "ledger")
)

/** The administration inside the server (`local`), and through the control channel (`remote`). */
const startServer = Effect.gen(function* () {
  const folder = yield* temporaryDirectory
  const file = yield* openLedgerFile(folder)
  const { administration } = yield* openLedgerInFile(file)
  const tables = Layer.provide(embeddedConsole, Layer.succeed(LedgerFile, file))
  const people = yield* administerPeople(() => "http://console.example").pipe(
    Effect.provideService(Administration, administration),
    Effect.provide(yield* Layer.build(Layer.provide(People.layer, tables)))
  )
  yield* serveControl(folder, administration, people)
  const server = yield* findRunningServer(folder)
  if (Option.isNone(server)) return yield* Effect.die("no server responds")
  return { local: administration, remote: server.value.administration }
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
