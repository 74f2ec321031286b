/** A server that is held up for so long that the others take it for dead. Fifteen seconds. */
import { setTimeout as sleep } from "node:timers/promises"
import { describe, inject, it } from "vitest"
import { history } from "../crash/history.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

/** A server that says nothing for five seconds loses what it held. */
const freeze = 7_000

describe("a server that is frozen for 7 seconds", () => {
  it("charges nothing that it did not answer, and recovers, while another server keeps working", async () => {
    const environment = { LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) }
    await history("frozen server", environment, async ({ books, call, diary, start }) => {
      const [held, other] = [await start(), await start()]
      const callers = [call(held), call(other)]
      await Promise.all(callers.map(({ underWay }) => underWay))
      held.child.kill("SIGSTOP")
      await sleep(freeze) // the other one answers every call
      diary.outage(true)
      callers[0]?.tolerate("closed connections") // Node closes what was idle for so long, before it reads what has come
      held.child.kill("SIGCONT")
      while (!(await fetch(`${held.console}/readyz`)).ok) await sleep(20)
      await Promise.all(callers.map(({ end }) => end()))
      diary.outage(false)
      await books.check()
    })
  })
})
