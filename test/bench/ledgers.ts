/**
 * Measures the cost of authentication and ledger: the same server without them, with the embedded ledger, and with a
 * ledger in PostgreSQL, each with 1, 16, 64 and 256 connections, alternately. All share the cores with the load generator.
 */
import { startPostgres } from "../support/postgres/server.ts"
import { type Server, startServer } from "../support/programs.ts"
import { type Commits, readCommits, subtract } from "./commits.ts"
import { countRounds, limitSeconds } from "./effort.ts"
import { load, type Measured } from "./load.ts"
import { createFundedKey } from "./servers.ts"

const connectionCounts = [1, 16, 64, 256]
const rounds = countRounds(3)
const seconds = limitSeconds(3)

interface Subject {
  readonly name: string
  readonly api: string
  readonly key: string
  /** Undefined if the server commits nothing. */
  readonly console?: string
}

type Row = Partial<Commits> & { readonly requests_per_second: number; readonly p50_ms: number; readonly p99_ms: number }

const measure = async ({ api, console, key }: Subject, request: string, connections: number): Promise<Row> => {
  const before = console === undefined ? undefined : await readCommits(console)
  const { failed, ...measured }: Measured = await load({ url: api + request, key, seconds, connections })
  if (failed > 0) throw new Error(`${failed} calls failed`)
  if (console === undefined || before === undefined) return measured
  return { ...measured, ...subtract(before, await readCommits(console)) }
}

/** The round with the median throughput. */
const findMedian = (rows: ReadonlyArray<Row>): Row | undefined =>
  rows.toSorted((a, b) => a.requests_per_second - b.requests_per_second)[Math.floor(rows.length / 2)]

/** Prints a table for each number of connections. */
export const compareLedgers = async (options: {
  readonly home: string
  readonly request: string
  readonly uncharged: { readonly api: string }
  readonly embedded: Server & { readonly key: string }
}): Promise<void> => {
  const { embedded, home, request, uncharged } = options
  const postgres = await startPostgres()
  try {
    const environment = { LARDER_LEDGER_URL: await postgres.newDatabase() }
    const shared = await startServer(home, environment)
    const subjects: ReadonlyArray<Subject> = [
      { name: "without access and ledger", api: uncharged.api, key: embedded.key },
      { name: "embedded ledger", api: embedded.api, key: embedded.key, console: embedded.console },
      {
        name: "ledger in PostgreSQL",
        api: shared.api,
        key: await createFundedKey(home, environment),
        console: shared.console
      }
    ]
    for (const subject of subjects)
      await load({ url: subject.api + request, key: subject.key, seconds: limitSeconds(2) }) // warm up
    for (const connections of connectionCounts) {
      const rows = new Map<string, Array<Row>>(subjects.map(({ name }) => [name, []]))
      for (let round = 0; round < rounds; round++) {
        for (const subject of subjects) rows.get(subject.name)?.push(await measure(subject, request, connections))
      }
      console.log(`\n${connections} connection${connections === 1 ? "" : "s"}`)
      console.table(Object.fromEntries([...rows].map(([name, measured]) => [name, findMedian(measured)])))
    }
    await shared.stop()
  } finally {
    await postgres.remove()
  }
}
