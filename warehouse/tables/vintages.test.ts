/** What was known when: `observation`, `observation_as_of` and `vintage` over random publications, against a plain model. */
import { assert, describe } from "@effect/vitest"
import { addDays } from "@larder/schemas"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, FileSystem } from "effect"
import fc from "fast-check"
import { DuckDb } from "../duckdb.ts"
import { commodity } from "./commodity/data-set.ts"
import { define } from "./dictionary.ts"

const firstDay = "2026-07-01"
const dayOf = (offset: number) => addDays(firstDay, offset)

const days = Array.from({ length: 17 }, (_, offset) => dayOf(offset))

interface Version {
  readonly metric: string
  readonly value: number
  /** Hours after the first day. */
  readonly published: number
  readonly isTimed: boolean
  /** Days from its publication to its fetch. */
  readonly delay: number
  readonly status: "final" | "provisional" | null
}

const anyVersion = fc.record({
  metric: fc.constantFrom("butter", "whey"),
  value: fc.integer({ min: 1, max: 3 }),
  published: fc.integer({ min: 0, max: 24 * 12 }),
  isTimed: fc.boolean(),
  delay: fc.integer({ min: 0, max: 3 }),
  status: fc.constantFrom("final", "provisional", null)
})

const publishedAt = ({ isTimed, published }: Version) => {
  const day = dayOf(Math.floor(published / 24))
  return isTimed ? `${day} ${String(published % 24).padStart(2, "0")}:00:00` : `${day} 23:59:59.999999`
}
const fetchedOn = ({ delay, published }: Version) => dayOf(Math.floor(published / 24) + delay)
/** The day from whose end on the version is known. An untimed one was fetched at noon. */
const knownOn = (version: Version) => (version.isTimed ? publishedAt(version).slice(0, 10) : fetchedOn(version))

const isLater = (a: { readonly at: string; readonly row: number }, b: typeof a) =>
  a.at === b.at ? a.row > b.row : a.at > b.at

/** The value that counts among versions, and the time from which it was repeated without another in between. */
const findCurrent = (versions: ReadonlyArray<{ readonly version: Version; readonly row: number }>) => {
  const inOrder = versions
    .map(({ row, version }) => ({ at: publishedAt(version), row, version }))
    .toSorted((a, b) => (isLater(a, b) ? 1 : -1))
  const firstFinal = inOrder.find(({ version }) => version.status === "final")
  const standing = inOrder.filter(
    ({ at, version }) => version.status === "final" || firstFinal === undefined || at < firstFinal.at
  )
  const last = standing.at(-1)
  if (last === undefined) return undefined
  const others = standing.findLastIndex(({ version }) => version.value !== last.version.value)
  return { value: last.version.value, first: standing[others + 1]?.at, last: last.at, status: last.version.status }
}

const insert = (versions: ReadonlyArray<Version>) => {
  const rows = versions.map((version, row) => {
    const status = version.status === null ? "null" : `'${version.status}'`
    return `('${version.metric}', '${firstDay}', ${version.value}, '${version.value}', '${publishedAt(version)}', ${status}, null, 'run', 'sha', '${fetchedOn(version)} 12:00:00', ${row})`
  })
  return `delete from commodity.observation_version; insert into commodity.observation_version values ${rows.join(", ")}`
}

const columns =
  "metric_name, value::integer as value, first_published_at::varchar as first, last_published_at::varchar as last, revision_status as status"

const expectRows = (versions: ReadonlyArray<Version>, isKnown: (version: Version) => boolean) =>
  ["butter", "whey"].flatMap((metric) => {
    const known = versions.flatMap((version, row) =>
      version.metric === metric && isKnown(version) ? [{ version, row }] : []
    )
    const current = findCurrent(known)
    return current === undefined ? [] : [{ metric_name: metric, ...current }]
  })

describe("the history of a number", () => {
  itLive("has the value, its first and its last publication as of every day, and the same in vintages", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-vintages-" })
      const db = yield* DuckDb.readWrite(`${folder}/prices.duckdb`)
      yield* define(db, commodity)
      const select = (sql: string) => Effect.map(db.rows(sql), (rows) => rows.map((row) => ({ ...row })))
      const check = Effect.fnUntraced(function* (versions: ReadonlyArray<Version>) {
        yield* db.run(insert(versions))
        const now = yield* select(`select ${columns} from commodity.observation order by 1`)
        assert.deepStrictEqual(
          now,
          expectRows(versions, () => true)
        )
        const then = yield* select(
          days
            .map((day) => `select '${day}' as day, ${columns} from commodity.observation_as_of('${day}')`)
            .join(" union all ")
        )
        const expected = days.map((day) => expectRows(versions, (version) => knownOn(version) <= day))
        const rowsOf = (rows: ReadonlyArray<object>) => new Set(rows.map((row) => JSON.stringify(row)))
        assert.deepStrictEqual(
          rowsOf(then),
          rowsOf(expected.flatMap((rows, index) => rows.map((row) => ({ day: days[index], ...row }))))
        )
        const vintages = yield* select(
          `select day::date::varchar as day, metric_name, value::integer as value
           from generate_series(date '${days[0]}', date '${days.at(-1)}', interval 1 day) as of_day (day)
           join commodity.vintage on day between realtime_start and realtime_end`
        )
        assert.deepStrictEqual(
          rowsOf(vintages),
          rowsOf(then.map(({ day, metric_name, value }) => ({ day, metric_name, value })))
        )
        const repeated = yield* select(
          `select 1 from commodity.vintage a join commodity.vintage b using (metric_name, observed_on, value)
           where a.realtime_end + 1 = b.realtime_start`
        )
        assert.lengthOf(repeated, 0)
      })
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(anyVersion, { minLength: 1, maxLength: 9 }), (versions) => run(check(versions))),
          { numRuns: 15 }
        )
      )
    })
  )
})
