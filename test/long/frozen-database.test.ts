/** A database that keeps its connections but sends nothing: no call and no stop waits forever. Half a minute. */
import { rmSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { notReady, readReadiness, runThroughOutage, withConnection } from "../ledger/outage.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { type Postgres, startPostgres } from "../support/postgres/server.ts"
import { startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

/** Milliseconds. A server waits five seconds for the result of a group, and five for that of its new name. */
const stopMs = 11_000

/** Stops the processes of the database at any point: they send nothing, and close no connection. */
const stopDatabase = (url: string, whileStopped: () => Promise<void>) =>
  withConnection(postgres.url, (sql) => {
    const stopped: Array<number> = []
    const stop = (rows: ReadonlyArray<{ readonly pid: number }>) => {
      for (const { pid } of rows) {
        process.kill(pid, "SIGSTOP")
        stopped.push(pid)
      }
    }
    const postmaster = "select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::integer as pid"
    const backends = "select pid from pg_stat_activity where datname = $1"
    return Effect.gen(function* () {
      stop(yield* sql.unsafe<{ pid: number }>(postmaster)) // from here on, no more processes start
      stop(yield* sql.unsafe<{ pid: number }>(backends, [new URL(url).pathname.slice(1)]))
      yield* Effect.promise(whileStopped)
    }).pipe(Effect.ensuring(Effect.sync(() => stopped.map((pid) => process.kill(pid, "SIGCONT")))))
  })

describe("a database that is frozen for 11 seconds", () => {
  it("makes calls end with 503 at no cost, and the servers are ready again after it", async () => {
    const url = await newDatabase(postgres.url)
    await runThroughOutage("frozen database", url, ({ observations }, servers) =>
      stopDatabase(url, async () => {
        await sleep(stopMs)
        expect(await readReadiness(servers)).toEqual([notReady, notReady])
        expect(observations.unavailable.length).toBeGreaterThan(0)
      })
    )
  })
})

describe("a server over a frozen database", () => {
  it("stops all the same, and exits with 0", async () => {
    const url = await newDatabase(postgres.url)
    const home = copyHome(inject("sampleHome"))
    const server = await startServer(home, { LARDER_LEDGER_URL: url })
    await stopDatabase(url, async () => expect(await server.stop()).toBe(0))
    rmSync(home, { recursive: true })
  })
})
