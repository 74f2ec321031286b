/**
 * Measures the cost of authentication and ledger: the same server without them, with the embedded ledger, and with a
 * ledger in PostgreSQL, each with 1, 16, 64 and 256 connections, alternately. All share the cores with the load generator.
 */
import { startPostgres } from "../support/postgres/server.ts"
import { startServer } from "../support/programs.ts"
import { type Commits, readCommits, subtract } from "./commits.ts"
import { countRounds, limitSeconds } from "./effort.ts"
import { load, type Measured } from "./load.ts"
import { type LoadedServer, warmUp } from "./load-in-turns.ts"
import { createFundedKey } from "./servers.ts"
import { takeTurns } from "./turns.ts"

const connectionCounts = [1, 16, 64, 256]
const rounds = countRounds(3)
const seconds = limitSeconds(3)

interface Subject extends LoadedServer {
  /** Undefined if the server commits nothing. */
  readonly console?: string
}

type Row = Partial<Commits> & Omit<Measured, "failed">

const measure = async ({ api, child, console, key }: Subject, request: string, connections: number): Promise<Row> => {
  const before = console === undefined ? undefined : await readCommits(console)
  const { failed, ...measured }: Measured = await load({
    url: api + request,
    key,
    seconds,
    connections,
    pid: child.pid
  })
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
  readonly uncharged: LoadedServer
  readonly embedded: Subject
}): Promise<void> => {
  const { embedded, home, request, uncharged } = options
  const postgres = await startPostgres()
  try {
    const environment = { LARDER_LEDGER_URL: await postgres.newDatabase() }
    const shared = await startServer(home, environment)
    const inPostgres: Subject = { ...shared, key: await createFundedKey(home, { environment }) }
    await warmUp(inPostgres, [request])
    for (const connections of connectionCounts) {
      const rows = await takeTurns(rounds, {
        "without access and ledger": () => measure(uncharged, request, connections),
        "embedded ledger": () => measure(embedded, request, connections),
        "ledger in PostgreSQL": () => measure(inPostgres, request, connections)
      })
      console.log(`\n${connections} connection${connections === 1 ? "" : "s"}`)
      console.table(Object.fromEntries(Object.entries(rows).map(([name, measured]) => [name, findMedian(measured)])))
    }
    await shared.stop()
  } finally {
    await postgres.remove()
  }
}
