/**
 * What an analyst waits for: the questions of `examples/analysis.sql`, asked of the catalogue `larder.duckdb`, which puts the files of the
 * data sets together, and of a snapshot, where everything is in one file. A process of its own, which prints what each question took.
 */
import { DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { questions } from "../../support/analysis-questions.ts"
import { median } from "../statistics.ts"

/** Paths. */
export interface Warehouses {
  readonly catalogue: string
  readonly snapshot: string
}

/** Milliseconds, the median of `rounds`. */
export interface Took {
  readonly question: number
  readonly catalogue: number
  readonly snapshot: number
}

export interface Asked {
  readonly took: ReadonlyArray<Took>
  /** Of the whole process. */
  readonly peak_mb: number
}

const rounds = 5
const names = ["catalogue", "snapshot"] as const

/** One session asks both in turns. It spills nothing: a question that needs more memory fails. */
const askBoth = (warehouses: Warehouses) =>
  Effect.gen(function* () {
    const db = yield* DuckDb.memory
    yield* db.run("set memory_limit = '4GB'; set max_temp_directory_size = '0B'")
    for (const name of names) yield* db.run(`attach ${literal(warehouses[name])} as ${name} (read_only)`)
    const asked = Effect.fnUntraced(function* (name: keyof Warehouses, sql: string) {
      yield* db.run(`use ${name}`)
      const startedAt = performance.now()
      const rows = yield* db.rows(sql)
      return { milliseconds: performance.now() - startedAt, rows: JSON.stringify(rows) }
    })
    return yield* Effect.forEach([...questions], ([question, sql]) =>
      Effect.gen(function* () {
        const took: Record<keyof Warehouses, Array<number>> = { catalogue: [], snapshot: [] }
        for (let round = 0; round < rounds; round++) {
          const answers = yield* Effect.forEach(names, (name) => asked(name, sql))
          if (answers[0]?.rows !== answers[1]?.rows) throw new Error(`both answer question ${question} differently`)
          for (const [at, name] of names.entries()) took[name].push(answers[at]?.milliseconds ?? 0)
        }
        return { question, catalogue: median(took.catalogue), snapshot: median(took.snapshot) } satisfies Took
      })
    )
  })

const took = await Effect.runPromise(Effect.scoped(askBoth(JSON.parse(process.argv[2] ?? "{}") as Warehouses)))
const peak_mb = Math.round(process.resourceUsage().maxRSS / 1000)
console.log(JSON.stringify({ took, peak_mb } satisfies Asked))
