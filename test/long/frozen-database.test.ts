/** A database that keeps its connections and does not answer on them: no call is left waiting. Twenty seconds. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connected, notReady, readiness, through } from "../ledger/outage.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { type Postgres, startPostgres } from "../support/postgres/server.ts"

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

/** A server waits five seconds for the answer to a group, and five for that to its new name. */
const stoppedFor = 11_000

/** The database's processes stand still, in the middle of whatever they do: nobody answers, and nobody hangs up. */
const stopDatabase = (url: string, whileStopped: () => Promise<void>) =>
  connected(postgres.url, (sql) => {
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
      stop(yield* sql.unsafe<{ pid: number }>(postmaster)) // from here on there are no more of them
      stop(yield* sql.unsafe<{ pid: number }>(backends, [new URL(url).pathname.slice(1)]))
      yield* Effect.promise(whileStopped)
    }).pipe(Effect.ensuring(Effect.sync(() => stopped.map((pid) => process.kill(pid, "SIGCONT")))))
  })

describe("a database that is frozen for 11 seconds", () => {
  it("makes calls end with 503 at no cost, and the servers are ready again after it", async () => {
    const url = await newDatabase(postgres.url)
    await through("frozen database", url, ({ diary }, servers) =>
      stopDatabase(url, async () => {
        await sleep(stoppedFor)
        expect(await readiness(servers)).toEqual([notReady, notReady])
        expect(diary.unavailable.length).toBeGreaterThan(0)
      })
    )
  })
})
