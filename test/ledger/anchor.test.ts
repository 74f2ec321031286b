/** The anchor: where it is stored, and how a start uses it. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  type Anchor,
  type AnchorPlace,
  anchorPlace,
  followFileChain,
  keepAnchor,
  keepFileAnchor,
  noHead,
  openEmbeddedStore,
  openLedgerFile,
  verifyFile
} from "@larder/serve/ledger"
import { openSqlite } from "@larder/serve/persistence"
import { Effect, Logger, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { append, sampleGroups, temporaryFolder, withDatabase } from "../support/serve/sample-ledger.ts"
import { copyToNewFolder, makeOriginals } from "./anchored-ledgers.ts"

const originals = makeOriginals()

describe("the anchor", () => {
  it.live("warns at the next start of entries that are newer than the anchor, and of a place without an anchor", () =>
    Effect.gen(function* () {
      const { place, stopped } = yield* originals
      const folder = yield* copyToNewFolder(stopped)
      yield* withDatabase(folder, (sqlite) =>
        sqlite.exec("update api_key set budget_credits = 9000 where id = 'key_a'")
      )
      const messages: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => messages.push(String(message)))])
      const start = (at: AnchorPlace) =>
        Effect.flatMap(openLedgerFile(folder), (file) =>
          keepFileAnchor(file, Option.some({ ...at, write: () => Effect.void }), Effect.void)
        ).pipe(Effect.scoped, Effect.provide(logger))
      yield* start(place)
      assert.match(messages.join("\n"), /0 entries and 1 records of .* are newer than the anchor of/)
      yield* start(anchorPlace(Redacted.make(path.join(folder, "none.json"))))
      assert.match(messages.join("\n"), /There is no anchor at .*none.json yet/)
    }).pipe(Effect.scoped)
  )

  it.live("reports a missing folder, and does not create it: a share may not be mounted", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const place = anchorPlace(Redacted.make(path.join(folder, "not-mounted", "anchor.json")))
      const { anchor } = yield* originals
      assert.match((yield* Effect.flip(place.write(anchor))).message, /ENOENT.*not-mounted/)
      assert.isFalse(existsSync(path.join(folder, "not-mounted")))
    }).pipe(Effect.scoped)
  )

  it.live(
    "is stored at a URL with PUT and GET, and its errors contain neither the password nor the query of the URL",
    () =>
      Effect.gen(function* () {
        const { anchor } = yield* originals
        let stored = ""
        const requests: Array<string> = []
        const server = createServer((request, response) => {
          requests.push(`${request.method} ${request.headers.authorization ?? ""}`)
          if (request.method === "GET") return response.writeHead(stored === "" ? 404 : 200).end(stored)
          request.on("data", (piece) => {
            stored += String(piece)
          })
          return request.on("end", () => response.writeHead(204).end())
        })
        const port = yield* Effect.promise(
          () =>
            new Promise<number>((resolve) => {
              server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
            })
        )
        const place = anchorPlace(Redacted.make(`http://ada:se%40cret@127.0.0.1:${port}/anchor?token=hidden`))
        assert.deepStrictEqual(yield* place.read, Option.none())
        yield* place.write(anchor)
        assert.deepStrictEqual(yield* place.read, Option.some(anchor))
        const basic = `Basic ${Buffer.from("ada:se@cret").toString("base64")}`
        assert.deepStrictEqual(requests, [`GET ${basic}`, `PUT ${basic}`, `GET ${basic}`])
        yield* Effect.promise(() => new Promise((resolve) => server.close(resolve)))
        const { message } = yield* Effect.flip(place.read)
        assert.match(
          message,
          new RegExp(`^The anchor of the ledger at http://127.0.0.1:${port}/anchor cannot be used: \\S`)
        )
        assert.notMatch(message, /hidden|cret/)
      }).pipe(Effect.scoped)
  )

  it.live("is written when the chain has grown, and continues after a restart", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = path.join(folder, "anchor.json")
      const place = anchorPlace(Redacted.make(file))
      const groups = sampleGroups()
      const anchors: Array<Anchor> = []
      for (const part of [groups.slice(0, 10), [], groups.slice(10)]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const opened = yield* openLedgerFile(path.join(folder, "ledger"))
            yield* keepFileAnchor(opened, Option.some(place), Effect.void)
            yield* append(yield* openEmbeddedStore(opened), part)
          })
        )
        anchors.push(Option.getOrThrow(yield* place.read))
      }
      assert.deepStrictEqual(
        anchors.map(({ entries, records }) => [entries, records]),
        [
          [9, 5],
          [9, 5],
          [62, 5]
        ]
      )
      assert.strictEqual(statSync(file).mode & 0o077, 0)
    }).pipe(Effect.scoped)
  )

  it.live("stays unchanged when the ledger cannot be opened", () =>
    Effect.gen(function* () {
      const { anchor, place, stopped } = yield* originals
      const folder = yield* copyToNewFolder(stopped)
      yield* withDatabase(folder, (sqlite) => sqlite.exec("update api_key set name = 'renamed' where id = 'key_a'"))
      const start = Effect.flatMap(openLedgerFile(folder), (file) =>
        keepFileAnchor(file, Option.some(place), Effect.fail("it is damaged"))
      )
      assert.strictEqual(yield* Effect.flip(Effect.scoped(start)), "it is damaged")
      assert.deepStrictEqual(yield* place.read, Option.some(anchor))
    }).pipe(Effect.scoped)
  )

  it.live(
    "continues the chain that the server has followed, even if the file is rewritten with every hash recomputed",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const place = anchorPlace(Redacted.make(path.join(folder, "anchor.json")))
        const directory = path.join(folder, "ledger")
        const groups = sampleGroups()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const file = yield* openLedgerFile(directory)
            const store = yield* openEmbeddedStore(file)
            yield* append(store, groups.slice(0, 10))
            yield* keepFileAnchor(file, Option.some(place), Effect.void)
            while (Option.isNone(yield* place.read)) yield* Effect.sleep("5 millis")
            const other = openSqlite(file.file)
            other.exec("update entry set hash = 'forged' where sequence = 1")
            const { entries, hash, records } = followFileChain(other, noHead)
            other.run("update ledger.head set entries = $1, records = $2, hash = $3", [entries, records, hash])
            other.close()
            yield* append(store, groups.slice(10))
          })
        )
        const anchor = Option.getOrThrow(yield* place.read)
        assert.strictEqual(anchor.entries, 62)
        const { problems } = yield* withDatabase(directory, (sqlite) =>
          verifyFile(sqlite, { sequence: 0, heads: new Map() }, anchor)
        )
        assert.match(
          problems.join("; "),
          /the chain was anchored at entry 62 and record \d+, and has a different hash there/
        )
      }).pipe(Effect.scoped)
  )

  it.live("refuses a file that is not an anchor, and leaves it unchanged", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = path.join(folder, "anchor.json")
      writeFileSync(file, "precious")
      const start = Effect.flatMap(openLedgerFile(path.join(folder, "ledger")), (opened) =>
        keepFileAnchor(opened, Option.some(anchorPlace(Redacted.make(file))), Effect.void)
      )
      assert.match((yield* Effect.flip(Effect.scoped(start))).message, /its content was not written by larder-serve/)
      assert.strictEqual(readFileSync(file, "utf8"), "precious")
    }).pipe(Effect.scoped)
  )
})

describe("the chain of a ledger without an anchor", () => {
  it.effect("is followed each minute, so that a stop has little left to follow", () =>
    Effect.gen(function* () {
      const followed: Array<string> = []
      const follow = (when: string) =>
        Effect.as(
          Effect.sync(() => followed.push(when)),
          noHead
        )
      const chain = {
        compareWith: () => Effect.succeed({ problem: "none", entries: 0, records: 0 }),
        advance: follow("while open"),
        advanceAtStop: follow("at the end")
      }
      yield* Effect.scoped(
        Effect.andThen(keepAnchor(chain, Option.none(), Effect.void), TestClock.adjust("150 seconds"))
      )
      assert.deepStrictEqual(followed, ["while open", "while open", "while open", "at the end"])
    })
  )
})
