/** Measures PostgreSQL with `pg_trgm`: GIN indexes on both texts, with more memory for the build. */
import { PgClient } from "@effect/sql-pg"
import { literal } from "@larder/warehouse"
import { Effect, Redacted } from "effect"
import { startPostgres } from "../../support/postgres/server.ts"
import type { Alternative, Task } from "./alternatives.ts"

const table = "create table food (fdc_id integer primary key, description text not null, ingredients text not null)"
const indexes = ["description", "ingredients"].map(
  (column) => `create index food_${column} on food using gin (${column} gin_trgm_ops)`
)
const size = `select (pg_relation_size('food_description') + pg_relation_size('food_ingredients'))::text as bytes`

/** PostgreSQL reads the file itself, which a superuser may do. */
const copyIn = (lines: string) =>
  `copy food from ${literal(lines)} with (format csv, delimiter E'\\t', quote E'\\x01', force_not_null (description, ingredients))`

const measure = ({ lines, texts }: Pick<Task, "lines" | "texts">) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const run = (statement: string) => sql.unsafe<{ readonly bytes: string }>(statement)
    const measureRun = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
      const startedAt = performance.now()
      for (const statement of statements) yield* run(statement)
      return performance.now() - startedAt
    })
    yield* measureRun(["create extension pg_trgm", "set maintenance_work_mem = '1GB'", table, copyIn(lines)])
    const buildMilliseconds = yield* measureRun(indexes)
    yield* run("vacuum analyze food")
    const milliseconds: Record<string, ReadonlyArray<number>> = {}
    for (const [kind, textsOfKind] of Object.entries(texts)) {
      milliseconds[kind] = yield* Effect.forEach(textsOfKind, (text) =>
        measureRun([`select fdc_id from food where ingredients ilike ${literal(`%${text}%`)} order by fdc_id limit 50`])
      )
    }
    const [row] = yield* run(size)
    return { seconds: buildMilliseconds / 1000, bytes: Number(row?.bytes), milliseconds } satisfies Alternative
  })

export const measurePostgres = async (task: Pick<Task, "lines" | "texts">): Promise<Alternative> => {
  const postgres = await startPostgres()
  try {
    const url = Redacted.make(postgres.url)
    return await measure(task).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })), Effect.runPromise)
  } finally {
    await postgres.remove()
  }
}
