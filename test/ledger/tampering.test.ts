/**
 * What whoever can write every file of the ledger, but not the anchor, may do to it: edit, remove, add, exchange, cut and put
 * another one in its place, and compute every hash and sum anew. A verification without the anchor believes it; one that holds
 * the ledger to the anchor does not.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { type Anchor, type AnchorPlace, anchorPlace } from "@larder/serve/ledger/anchor.ts"
import { hashOf } from "@larder/serve/ledger/chain.ts"
import { embeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import { eachEntryAfter } from "@larder/serve/ledger/embedded/entry-checks.ts"
import { advanceHead } from "@larder/serve/ledger/embedded/head.ts"
import { keepAnchor } from "@larder/serve/ledger/embedded/keep-anchor.ts"
import { ledgerFileIn, openLedgerFile } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { followEntries } from "@larder/serve/ledger/embedded/progress.ts"
import { bodyOf, recorded, recordedTables } from "@larder/serve/ledger/embedded/tables.ts"
import { verify } from "@larder/serve/ledger/embedded/verification.ts"
import type { Sqlite } from "@larder/serve/persistence/sqlite.ts"
import { Effect, Exit, Logger, Option, Redacted, Scope } from "effect"
import {
  append,
  refusal,
  sampleGroups,
  temporaryFolder,
  withDatabase,
  written
} from "../support/serve/sample-ledger.ts"

const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const payment = `
  insert into payment (id, account_id, kind, cents, state, processor, created_at)
  values ('pay_1', 'acct_a', 'top_up', 5000, 'open', 'stripe', '2026-10-30T00:00:00.000Z');
  update payment set state = 'succeeded', reference = 'pi_1', settled_at = '2026-10-30T00:01:00.000Z' where id = 'pay_1'`

/** A ledger that was stopped cleanly, one that was killed with everything in its log, and the anchor of both. */
const originals = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const [stopped, killed] = [path.join(folder, "stopped"), path.join(folder, "killed")]
  mkdirSync(path.join(folder, "elsewhere"))
  const place = anchorPlace(Redacted.make(path.join(folder, "elsewhere", "anchor.json")))
  const older = path.join(folder, "older")
  yield* written(older, sampleGroups().slice(0, 40))
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* openLedgerFile(stopped)
      const store = yield* embeddedStore(file)
      yield* keepAnchor(file, Option.some(place))
      yield* append(store, sampleGroups())
      file.sqlite.exec(payment)
      cpSync(stopped, killed, { recursive: true })
    })
  )
  yield* withDatabase(stopped, followEntries)
  const anchor = Option.getOrThrow(yield* place.read)
  return { stopped, killed, older, anchor, place }
}).pipe(Scope.provide(scope), Effect.cached, Effect.runSync)

const copyOf = Effect.fnUntraced(function* (original: string) {
  const folder = yield* temporaryFolder
  cpSync(original, folder, { recursive: true })
  return folder
})

const unheld = { sequence: 0, heads: new Map() }
const problemsIn = (folder: string, anchor?: Anchor) =>
  withDatabase(folder, (sqlite) => verify(sqlite, unheld, anchor).problems)

/** The last state that was recorded of each row becomes what the row says now; what is gone was never there. */
const forgeRecords = (sqlite: Sqlite, lastEntry: number): void => {
  const now = new Map<string, string>()
  for (const table of recordedTables) {
    for (const { body, id } of sqlite.all(`select id, ${bodyOf(table, table)} as body from ${table}`)) {
      now.set(`${table} ${id}`, String(body))
    }
  }
  const records = sqlite.all("select kind, after_entry, body, body ->> 'id' as id from record order by number")
  sqlite.exec("delete from record")
  const insert = sqlite.prepare("insert into record (after_entry, kind, body) values (?, ?, ?)")
  for (const [index, { after_entry, body, id, kind }] of records.entries()) {
    const isLast = !records.slice(index + 1).some((later) => later.kind === kind && later.id === id)
    const forged = now.get(`${kind} ${id}`)
    if (forged === undefined) continue
    insert.run(Math.min(lastEntry, Number(after_entry)), String(kind), isLast ? forged : String(body))
    if (isLast) now.delete(`${kind} ${id}`)
  }
  for (const [name, body] of now) insert.run(lastEntry, name.split(" ")[0] ?? "", body)
}

/** Else each change would be recorded, as that of an operator. */
const withoutTriggers = [
  "drop trigger delete_of_payment",
  ...recordedTables.map((table) => `drop trigger insert_of_${table}; drop trigger update_of_${table}`)
].join(";")

/** Computes anew whatever follows from the rows that were changed. */
const forge = (sqlite: Sqlite): void => {
  sqlite.exec(
    "drop index entry_but_charge; create index entry_but_charge on entry (account_id, position) where type <> 'charge'"
  )
  const heads = new Map<string, { position: number; balance: number; hash: string }>()
  let sequence = 0
  const entries = [...eachEntryAfter(sqlite, 0)]
  sqlite.exec("delete from entry")
  const columns = Object.keys(entries[0] ?? {})
  const insert = sqlite.prepare(
    `insert into entry (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`
  )
  for (const entry of entries) {
    const head = heads.get(entry.account_id) ?? { position: 0, balance: 0, hash: "" }
    const placed = {
      ...entry,
      sequence: ++sequence,
      position: head.position + 1,
      balance: head.balance + entry.credits
    }
    const forged = { ...placed, hash: hashOf(head.hash, placed) }
    heads.set(entry.account_id, forged)
    insert.run(...columns.map((column) => forged[column as keyof typeof forged]))
  }
  sqlite.exec(`delete from entry_place; delete from usage_of_day; delete from usage_of_endpoint; delete from usage_of_month;
    update progress set sequence = 0`)
  forgeRecords(sqlite, sequence)
  sqlite.exec("update head set entries = 0, records = 0, hash = ''")
  followEntries(sqlite)
  advanceHead(sqlite)
}

const another: Readonly<Record<string, string>> = {
  credits: "credits + 1",
  budget_credits: "budget_credits + 1",
  cents: "cents + 1",
  occurred_at: "'2026-10-30T00:00:00.001Z'",
  endpoint: "'/v1/products'",
  type: "'grant'",
  scopes: `'["get-product"]'`,
  revision: "revision + 1",
  account_id: "'acct_b'",
  expires_at: "'2100-01-31T00:00:00.000Z'"
}
const edited = (table: string, column: string, condition: string) =>
  `update ${table} set ${column} = ${another[column] ?? "'another'"} where ${condition}`

/** Of an entry those that are not computed from others. The key of an entry has to be one of the account. */
const entryColumns = ["type", "occurred_at", "endpoint", "credits", "budget_credits", "request_id"]
const edits = [
  ...entryColumns.map((column) => edited("entry", column, "sequence = 6")),
  "update entry set note = 'another' where sequence = 1",
  "update entry set key_id = 'key_c' where account_id = 'acct_a' and key_id = 'key_a' and sequence < 10",
  ...recorded.account.filter((column) => column !== "id").map((column) => edited("account", column, "id = 'acct_a'")),
  ...recorded.api_key
    .filter((column) => column !== "id" && column !== "account_id")
    .map((column) => edited("api_key", column, "id = 'key_b'")),
  ...recorded.payment.map((column) => edited("payment", column, "id = 'pay_1'")),
  "update api_key set revoked_at = null, budget_credits = 1000000 where id = 'key_a'",
  "update api_key set expires_at = null where id = 'key_c'"
]

const changes = [
  ...edits,
  "delete from entry where sequence = 6",
  "delete from entry where sequence > 60",
  "delete from payment",
  "delete from entry where account_id = 'acct_b'; delete from api_key where account_id = 'acct_b'; delete from account where id = 'acct_b'",
  "update entry set sequence = 100 where sequence = 6; update entry set sequence = 6 where sequence = 7; update entry set sequence = 7 where sequence = 100",
  "update entry set account_id = 'acct_a', key_id = 'key_a' where sequence = 7",
  `update entry set sequence = sequence + 1000 where sequence > 5;
    insert into entry select 6, account_id, 0, type, occurred_at, null, null, credits, 0, null, null, note, '' from entry where sequence = 1`,
  "insert into account values ('acct_x', 'x', '2026-10-30T00:00:00.000Z'); update record set after_entry = 0"
]

describe("a ledger whose rows were changed, with every hash and sum computed anew", () => {
  const sound = Effect.gen(function* () {
    const { reading: sqlite } = yield* openLedgerFile(yield* copyOf((yield* originals).stopped))
    sqlite.exec("pragma foreign_keys = off")
    return sqlite
  }).pipe(Scope.provide(scope), Effect.cached, Effect.runSync)
  /** In a transaction that is under way already, and is taken back. */
  const within = (sqlite: Sqlite): Sqlite => ({
    ...sqlite,
    transaction: (work) => work(),
    transactionOfSums: (work) => work(),
    atOneMoment: (work) => work()
  })

  it.live.each(changes)("is told from the one that was anchored: %s", (sql) =>
    Effect.gen(function* () {
      const { anchor } = yield* originals
      const sqlite = yield* sound
      const { believed, found } = sqlite.atOneMoment(() => {
        sqlite.exec(`${withoutTriggers}; ${sql}`)
        forge(within(sqlite))
        const believed = verify(within(sqlite), unheld).problems
        sqlite.exec("drop table charged")
        return { believed, found: verify(within(sqlite), unheld, anchor).problems }
      })
      assert.deepStrictEqual(
        believed.filter(
          (problem) => !/leaves a balance|highest budget|was charged to key|was (charged|booked)/.test(problem)
        ),
        []
      )
      assert.match(
        found.join("; "),
        /the chain was anchored at entry 62 and record 7, and (is another one there|ends at)/
      )
    })
  )

  it.live("adds up, and goes through the anchor, as it was written", () =>
    Effect.gen(function* () {
      const { anchor, killed, stopped } = yield* originals
      for (const original of [stopped, killed]) {
        const folder = yield* copyOf(original)
        const found = yield* withDatabase(folder, (sqlite) => verify(sqlite, unheld, anchor))
        assert.deepStrictEqual(found.problems, [])
        assert.deepStrictEqual(found.younger_than_anchor, { entries: 0, records: 0 })
      }
    }).pipe(Effect.scoped)
  )

  it.live("is told by what is younger than the anchor, which is unknown", () =>
    Effect.gen(function* () {
      const { anchor, stopped } = yield* originals
      const folder = yield* copyOf(stopped)
      yield* withDatabase(folder, (sqlite) => sqlite.exec("update api_key set name = 'renamed' where id = 'key_a'"))
      const found = yield* withDatabase(folder, (sqlite) => verify(sqlite, unheld, anchor))
      assert.deepStrictEqual(found.problems, [])
      assert.deepStrictEqual(found.younger_than_anchor, { entries: 0, records: 1 })
    }).pipe(Effect.scoped)
  )
})

const logIn = (folder: string) => `${ledgerFileIn(folder)}-wal`
const inLog = (folder: string, at: number, bytes: Uint8Array) => {
  const fd = openSync(logIn(folder), "r+")
  writeSync(fd, bytes, 0, bytes.length, at)
}
const frame = 4096 + 24

describe("a ledger whose end was taken away", () => {
  const ways: ReadonlyArray<readonly [string, (folder: string, older: string) => void]> = [
    ["its log cut in half", (folder) => truncateSync(logIn(folder), Math.floor(statSync(logIn(folder)).size / 2))],
    ["its log removed", (folder) => rmSync(logIn(folder))],
    ["its log emptied", (folder) => truncateSync(logIn(folder), 0)],
    [
      "its last ten pages zeroed",
      (folder) => inLog(folder, statSync(logIn(folder)).size - 10 * frame, Buffer.alloc(10 * frame))
    ],
    [
      "a byte of its last page flipped",
      (folder) => {
        const at = statSync(logIn(folder)).size - 100
        inLog(folder, at, Uint8Array.of((readFileSync(logIn(folder))[at] ?? 0) ^ 1))
      }
    ],
    [
      "an older file in its place",
      (folder, older) => {
        rmSync(folder, { recursive: true })
        cpSync(older, folder, { recursive: true })
      }
    ]
  ]

  it.live.each(ways)(
    "is told by the anchor, refused by the next start, and never replaces the anchor: %s",
    ([, take]) =>
      Effect.gen(function* () {
        const { anchor, killed, older, place } = yield* originals
        const folder = yield* copyOf(killed)
        take(folder, older)
        assert.isTrue(existsSync(ledgerFileIn(folder)))
        const start = Effect.flatMap(openLedgerFile(folder), (file) => keepAnchor(file, Option.some(place)))
        const error = yield* Effect.flip(Effect.scoped(start))
        assert.match(error.message, /does not go through its anchor at .*: its chain (ends before|ends at)/)
        assert.deepStrictEqual(Option.getOrThrow(yield* place.read), anchor)
        const found = yield* problemsIn(folder, anchor)
        assert.match(found.join("; "), /the chain was anchored at entry 62 and record 7, and ends at/)
      }).pipe(Effect.scoped)
  )

  it.live("is refused by the next start where entries or records were deleted that were followed already", () =>
    Effect.gen(function* () {
      const { anchor, place, stopped } = yield* originals
      for (const sql of ["delete from entry where sequence > 41", "delete from record where number > 5"]) {
        const folder = yield* copyOf(stopped)
        yield* withDatabase(folder, (sqlite) => sqlite.exec(sql))
        const start = Effect.flatMap(openLedgerFile(folder), (file) => keepAnchor(file, Option.some(place)))
        assert.match(
          (yield* Effect.flip(Effect.scoped(start))).message,
          /its chain ends at entry \d+ and record \d+, and was/
        )
        assert.deepStrictEqual(Option.getOrThrow(yield* place.read), anchor)
        assert.match(
          (yield* refusal(folder)).message,
          /its chain ends at entry \d+ and record \d+, and was followed to entry 62/
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("is refused, and not begun anew, where the file was taken away and its log is there", () =>
    Effect.gen(function* () {
      const { killed } = yield* originals
      const folder = yield* copyOf(killed)
      rmSync(ledgerFileIn(folder))
      const error = yield* refusal(folder)
      assert.match(error.message, /ledger.sqlite: it is missing or empty, and .*ledger.sqlite-wal is there/)
      assert.isTrue(existsSync(logIn(folder)))
    }).pipe(Effect.scoped)
  )

  it.live("is told where another ledger is in its place", () =>
    Effect.gen(function* () {
      const { place } = yield* originals
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      yield* written(folder, groups)
      yield* withDatabase(folder, (sqlite) => sqlite.exec(payment.replace("pi_1", "pi_2")))
      const start = Effect.flatMap(openLedgerFile(folder), (file) => keepAnchor(file, Option.some(place)))
      assert.match((yield* Effect.flip(Effect.scoped(start))).message, /its chain is another one/)
    }).pipe(Effect.scoped)
  )
})

describe("the anchor", () => {
  it.live("warns of what is younger than it at the next start, and of a place that has none", () =>
    Effect.gen(function* () {
      const { place, stopped } = yield* originals
      const folder = yield* copyOf(stopped)
      yield* withDatabase(folder, (sqlite) =>
        sqlite.exec("update api_key set budget_credits = 9000 where id = 'key_a'")
      )
      const messages: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => messages.push(String(message)))])
      const start = (at: AnchorPlace) =>
        Effect.flatMap(openLedgerFile(folder), (file) =>
          keepAnchor(file, Option.some({ ...at, write: () => Effect.void }))
        ).pipe(Effect.scoped, Effect.provide(logger))
      yield* start(place)
      assert.match(messages.join("\n"), /0 entries and 1 records of .* are younger than the anchor of/)
      yield* start(anchorPlace(Redacted.make(path.join(folder, "none.json"))))
      assert.match(messages.join("\n"), /There is no anchor at .*none.json yet/)
    }).pipe(Effect.scoped)
  )

  it.live("names a folder that is missing, and does not make it: a share may not be mounted", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const place = anchorPlace(Redacted.make(path.join(folder, "not-mounted", "anchor.json")))
      const { anchor } = yield* originals
      assert.match((yield* Effect.flip(place.write(anchor))).message, /ENOENT.*not-mounted/)
      assert.isFalse(existsSync(path.join(folder, "not-mounted")))
    }).pipe(Effect.scoped)
  )

  it.live("is kept at an address by PUT and GET, whose password and query are in no error", () =>
    Effect.gen(function* () {
      const { anchor } = yield* originals
      let kept = ""
      const seen: Array<string> = []
      const server = createServer((request, response) => {
        seen.push(`${request.method} ${request.headers.authorization ?? ""}`)
        if (request.method === "GET") return response.writeHead(kept === "" ? 404 : 200).end(kept)
        request.on("data", (piece) => {
          kept += String(piece)
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
      assert.deepStrictEqual(seen, [`GET ${basic}`, `PUT ${basic}`, `GET ${basic}`])
      yield* Effect.promise(() => new Promise((resolve) => server.close(resolve)))
      const { message } = yield* Effect.flip(place.read)
      assert.match(
        message,
        new RegExp(`^The anchor of the ledger at http://127.0.0.1:${port}/anchor cannot be used: \\S`)
      )
      assert.notMatch(message, /hidden|cret/)
    }).pipe(Effect.scoped)
  )

  it.live("is written when the chain has grown, and goes on after a restart", () =>
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
            yield* keepAnchor(opened, Option.some(place))
            yield* append(yield* embeddedStore(opened), part)
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

  it.live("refuses a file that is none, and leaves it as it is", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = path.join(folder, "anchor.json")
      writeFileSync(file, "precious")
      const start = Effect.flatMap(openLedgerFile(path.join(folder, "ledger")), (opened) =>
        keepAnchor(opened, Option.some(anchorPlace(Redacted.make(file))))
      )
      assert.match((yield* Effect.flip(Effect.scoped(start))).message, /it is not what larder-serve has written/)
      assert.strictEqual(readFileSync(file, "utf8"), "precious")
    }).pipe(Effect.scoped)
  )
})
