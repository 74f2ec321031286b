/** A server that is frozen in the middle of calls, until the database has ended its transactions. Fifteen seconds. */
import { setTimeout as sleep } from "node:timers/promises"
import { describe, inject, it } from "vitest"
import { runHistory } from "../crash/history.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

/** Milliseconds. The database ends a transaction that is idle for a second, and a call has five for its charge. */
const frozenMs = 7_000

describe("a server that is frozen for 7 seconds", () => {
  it("charges no call without a response, and recovers, while another server keeps working", async () => {
    const environment = { LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) }
    await runHistory("frozen server", environment, async ({ checks, call, observations, start }) => {
      const [frozen, other] = [await start(), await start()]
      const callers = [call(frozen), call(other)]
      await Promise.all(callers.map(({ allStarted }) => allStarted))
      frozen.child.kill("SIGSTOP")
      await sleep(frozenMs) // the other server responds to every call
      observations.setOutage(true)
      callers[0]?.tolerate("closed connections") // Node closes idle connections before it reads what has arrived
      frozen.child.kill("SIGCONT")
      while (!(await fetch(`${frozen.console}/readyz`)).ok) await sleep(20)
      await Promise.all(callers.map(({ end }) => end()))
      observations.setOutage(false)
      await checks.run()
    })
  })
})
