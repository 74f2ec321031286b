/**
 * Runs the questions of `examples/analysis.sql` on the catalogue `larder.duckdb`, which combines the files of the data
 * sets, and on a snapshot, which is one file. Runs as a separate process, and prints the time of each question.
 */
import { DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { questions } from "../../support/analysis-questions.ts"
import { median } from "../statistics.ts"

/** Paths of the databases. */
export interface Warehouses {
  readonly catalogue: string
  readonly snapshot: string
}

/** Median milliseconds. */
export interface QuestionTimes {
  readonly question: number
  readonly catalogue: number
  readonly snapshot: number
}

export interface Analysis {
  readonly times: ReadonlyArray<QuestionTimes>
  /** Of the whole process. */
  readonly peak_mb: number
}

const rounds = 5
const names = ["catalogue", "snapshot"] as const

/** Queries both databases alternately in one session. A query that needs more memory fails: temporary files are disabled. */
const queryBoth = (warehouses: Warehouses) =>
  Effect.gen(function* () {
    const db = yield* DuckDb.memory
    yield* db.run("set memory_limit = '4GB'; set max_temp_directory_size = '0B'")
    for (const name of names) yield* db.run(`attach ${literal(warehouses[name])} as ${name} (read_only)`)
    const query = Effect.fnUntraced(function* (name: keyof Warehouses, sql: string) {
      yield* db.run(`use ${name}`)
      const startedAt = performance.now()
      const rows = yield* db.rows(sql)
      return { milliseconds: performance.now() - startedAt, rows: JSON.stringify(rows) }
    })
    return yield* Effect.forEach([...questions], ([question, sql]) =>
      Effect.gen(function* () {
        const milliseconds: Record<keyof Warehouses, Array<number>> = { catalogue: [], snapshot: [] }
        for (let round = 0; round < rounds; round++) {
          const results = yield* Effect.forEach(names, (name) => query(name, sql))
          if (results[0]?.rows !== results[1]?.rows)
            throw new Error(`the databases return different rows for question ${question}`)
          for (const [i, name] of names.entries()) milliseconds[name].push(results[i]?.milliseconds ?? 0)
        }
        return {
          question,
          catalogue: median(milliseconds.catalogue),
          snapshot: median(milliseconds.snapshot)
        } satisfies QuestionTimes
      })
    )
  })

const times = await Effect.runPromise(Effect.scoped(queryBoth(JSON.parse(process.argv[2] ?? "{}") as Warehouses)))
const peak_mb = Math.round(process.resourceUsage().maxRSS / 1000)
console.log(JSON.stringify({ times, peak_mb } satisfies Analysis))
