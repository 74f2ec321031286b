/** PostgreSQL with `pg_trgm`: GIN indexes on both texts, with its settings as they come but for the memory of the build. */
import { PgClient } from "@effect/sql-pg"
import { literal } from "@larder/warehouse"
import { Effect, Redacted } from "effect"
import { startPostgres } from "../../support/postgres/server.ts"
import type { Alternative, Told } from "./alternatives.ts"

const table = "create table food (fdc_id integer primary key, description text not null, ingredients text not null)"
const indexes = ["description", "ingredients"].map(
  (column) => `create index food_${column} on food using gin (${column} gin_trgm_ops)`
)
const size = `select (pg_relation_size('food_description') + pg_relation_size('food_ingredients'))::text as bytes`

/** Reads the lines itself, as the superuser of a server of one's own may. */
const copyIn = (lines: string) =>
  `copy food from ${literal(lines)} with (format csv, delimiter E'\\t', quote E'\\x01', force_not_null (description, ingredients))`

const measure = ({ lines, texts }: Pick<Told, "lines" | "texts">) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const run = (statement: string) => sql.unsafe<{ readonly bytes: string }>(statement)
    const timed = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
      const startedAt = performance.now()
      for (const statement of statements) yield* run(statement)
      return performance.now() - startedAt
    })
    yield* timed(["create extension pg_trgm", "set maintenance_work_mem = '1GB'", table, copyIn(lines)])
    const built = yield* timed(indexes)
    yield* run("vacuum analyze food")
    const took: Record<string, ReadonlyArray<number>> = {}
    for (const [kind, some] of Object.entries(texts)) {
      took[kind] = yield* Effect.forEach(some, (text) =>
        timed([`select fdc_id from food where ingredients ilike ${literal(`%${text}%`)} order by fdc_id limit 50`])
      )
    }
    const [found] = yield* run(size)
    return { seconds: built / 1000, bytes: Number(found?.bytes), took } satisfies Alternative
  })

export const measurePostgres = async (told: Pick<Told, "lines" | "texts">): Promise<Alternative> => {
  const postgres = await startPostgres()
  try {
    const url = Redacted.make(postgres.url)
    return await measure(told).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })), Effect.runPromise)
  } finally {
    await postgres.remove()
  }
}
