/** `ingest.live_left_out` has what is left out of the live data: not every entry of `ingest.left_out` is. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect } from "effect"
import { DuckDb, literal } from "../duckdb.ts"
import { define } from "./dictionary.ts"
import { ingestTables, ingestViews } from "./ingest-tables.ts"

/** A run of the pipeline `commodities`, or of stores if it has `reads`. Each run is one generation, in their order. */
interface RunOf {
  readonly outcome?: string
  readonly hasWindow?: true
  readonly isRolledBack?: true
  /** The generation that rebuilt it. */
  readonly rebuiltIn?: number
  /** What it left out: the kind, by feed. */
  readonly leftOut?: Readonly<Record<string, "partial" | "untrusted" | "unreachable">>
  /** The payload of each feed that it read. */
  readonly payloads?: Readonly<Record<string, string>>
  /** For each store, whether the read was taken. */
  readonly reads?: Readonly<Record<string, boolean>>
}

const insert = (table: string, values: Readonly<Record<string, string | number | boolean | null>>) => {
  const toSql = (value: string | number | boolean | null) => (typeof value === "string" ? literal(value) : value)
  const columns = Object.entries(values).map(([column, value]) => `${toSql(value)} as ${column}`)
  return `insert into ingest.${table} by name select ${columns.join(", ")}`
}

const generation = (number: number) => `larder-${String(number).padStart(6, "0")}`

const insertRun = (run: RunOf, index: number) => {
  const run_id = `run-${index + 1}`
  const pipeline = run.reads === undefined ? "commodities" : "storefronts"
  const at = `2026-01-0${index + 1}`
  const { hasWindow, isRolledBack, leftOut = {}, outcome = "published", payloads = {}, reads = {}, rebuiltIn } = run
  return [
    insert("run", {
      run_id,
      pipeline,
      origin: "live",
      outcome,
      started_at: at,
      finished_at: at,
      window_from: hasWindow ? "2025-01-01" : null,
      window_to: hasWindow ? "2025-12-31" : null,
      recorded_in: generation(index + 1),
      rebuilt_in: rebuiltIn === undefined ? null : generation(rebuiltIn),
      rolled_back_by: isRolledBack ? generation(9) : null
    }),
    ...Object.entries(leftOut).map(([feed, kind]) => insert("left_out", { run_id, pipeline, feed, kind, reason: "" })),
    ...Object.entries(payloads).map(([feed, payload]) =>
      insert("raw_file", {
        raw_sha256: payload,
        url: `https://source.example/${index}`,
        pipeline,
        feed,
        run_id,
        fetched_at: at,
        bytes: 1,
        rows_read: 1,
        rows_rejected: 0,
        mapping_sha256: "mapping",
        window_from: hasWindow ? "2025-01-01" : null,
        window_to: hasWindow ? "2025-12-31" : null,
        origin: "live"
      })
    ),
    ...Object.entries(reads).map(([feed, is_taken]) =>
      insert("store_read", {
        run_id,
        store_id: feed,
        read_at: at,
        fetch_status: is_taken ? "partial" : "failed",
        outcome: "",
        pages_read: 1,
        products_read: 1,
        has_all_products: false,
        is_taken,
        collections_read: 0,
        seconds: 1,
        feed
      })
    )
  ]
}

/** What is left out after these runs, as `run feed kind`. */
const listAfter = Effect.fnUntraced(function* (runs: ReadonlyArray<RunOf>) {
  const db = yield* DuckDb.memory
  yield* define(db, { tables: ingestTables, views: ingestViews })
  yield* db.run(["begin", ...runs.flatMap(insertRun), "commit"].join(";\n"))
  const rows = yield* db.rows("select run_id, feed, kind from ingest.live_left_out order by all")
  return rows.map(({ feed, kind, run_id }) => `${run_id} ${feed} ${kind}`)
}, Effect.scoped)

const readsInPart: RunOf = { outcome: "partial", leftOut: { butter: "partial" }, payloads: { butter: "a", milk: "m" } }

const ofFeeds: Readonly<Record<string, readonly [runs: ReadonlyArray<RunOf>, expected: ReadonlyArray<string>]>> = {
  "a feed that was read in part": [[readsInPart], ["run-1 butter partial"]],
  "it stays if its known payload is not read again": [
    [readsInPart, { outcome: "unchanged" }],
    ["run-1 butter partial"]
  ],
  "it stays if only the address of its known payload is new": [
    [readsInPart, { outcome: "unchanged", payloads: { butter: "a" } }],
    ["run-1 butter partial"]
  ],
  "it stays if a later run reads only other feeds": [
    [readsInPart, { payloads: { milk: "n" } }],
    ["run-1 butter partial"]
  ],
  "it ends when a later run reads the feed again": [[readsInPart, { payloads: { butter: "b" } }], []],
  "the newest read counts if both were in part": [
    [readsInPart, { ...readsInPart, payloads: { butter: "b" } }],
    ["run-2 butter partial"]
  ],
  "a payload that each run reads again is listed once": [[readsInPart, readsInPart], ["run-2 butter partial"]],
  "it stays beside the reason why the last run could not read the feed": [
    [readsInPart, { outcome: "partial", leftOut: { butter: "unreachable" }, payloads: { milk: "n" } }],
    ["run-1 butter partial", "run-2 butter unreachable"]
  ],
  "a failed run neither adds nor ends anything": [
    [readsInPart, { outcome: "failed", leftOut: { milk: "untrusted" }, payloads: { butter: "b" } }],
    ["run-1 butter partial"]
  ],
  "what a rolled-back run left out is not left out of the live data": [[{ ...readsInPart, isRolledBack: true }], []],
  "a rollback restores what the undone run had ended": [
    [readsInPart, { payloads: { butter: "b" }, isRolledBack: true }],
    ["run-1 butter partial"]
  ],
  "a run of some days neither ends it nor replaces it": [
    [readsInPart, { ...readsInPart, hasWindow: true, payloads: { butter: "b" } }],
    ["run-1 butter partial", "run-2 butter partial"]
  ],
  "a part of some days ends with the next run that reads the feed": [
    [
      { ...readsInPart, hasWindow: true },
      { outcome: "published", payloads: { butter: "b" } }
    ],
    []
  ],
  "a run of some days does not tell which feeds can be read": [
    [
      { outcome: "partial", leftOut: { butter: "unreachable" } },
      { outcome: "partial", leftOut: { milk: "unreachable" }, hasWindow: true }
    ],
    ["run-1 butter unreachable"]
  ],
  "only the newest run tells what cannot be read": [
    [{ outcome: "partial", leftOut: { butter: "untrusted" } }, { outcome: "unchanged" }],
    []
  ],
  "a rebuild reads a feed again, later than the runs that it did not repeat": [
    [{ ...readsInPart, rebuiltIn: 3 }, { payloads: { butter: "b" } }],
    ["run-1 butter partial"]
  ],
  "a rebuild does not change which run was the last": [
    [
      { outcome: "partial", leftOut: { butter: "unreachable" }, rebuiltIn: 3 },
      { outcome: "partial", leftOut: { milk: "unreachable" } }
    ],
    ["run-2 milk unreachable"]
  ]
}

const [corner, mill] = ["store/corner.example", "store/mill.example"]
const cornerInPart: RunOf = { outcome: "partial", leftOut: { [corner]: "partial" }, reads: { [corner]: true } }
const cornerFails: RunOf = { outcome: "partial", leftOut: { [corner]: "unreachable" }, reads: { [corner]: false } }

const ofStores: typeof ofFeeds = {
  "a store that was read in part": [[cornerInPart], [`run-1 ${corner} partial`]],
  "it stays while other stores are read": [[cornerInPart, { reads: { [mill]: true } }], [`run-1 ${corner} partial`]],
  "it ends with the next read that is taken": [[cornerInPart, { reads: { [corner]: true } }], []],
  "it stays beside a later read that failed": [
    [cornerInPart, cornerFails],
    [`run-1 ${corner} partial`, `run-2 ${corner} unreachable`]
  ],
  "it stays beside a later read in part that was not taken": [
    [cornerInPart, { ...cornerInPart, reads: { [corner]: false } }],
    [`run-1 ${corner} partial`, `run-2 ${corner} partial`]
  ],
  "a store that could not be read is named until it is read again": [
    [cornerFails, { reads: { [mill]: true } }],
    [`run-1 ${corner} unreachable`]
  ],
  "only its last failure is named": [[cornerFails, cornerFails], [`run-2 ${corner} unreachable`]],
  "a read that was rolled back does not count": [
    [cornerInPart, { reads: { [corner]: true }, isRolledBack: true }],
    [`run-1 ${corner} partial`]
  ]
}

describe.each([
  ["of feeds", ofFeeds],
  ["of stores", ofStores]
])("what is left out of the live data %s", (_, cases) => {
  for (const [name, [runs, expected]] of Object.entries(cases)) {
    itLive(name, () => Effect.map(listAfter(runs), (listed) => assert.deepStrictEqual(listed, [...expected])))
  }
})
