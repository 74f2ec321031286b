/** Servers that are stopped under load, again and again; each history of kills ends with one such stop. */
import { describe, inject, it } from "vitest"
import { runHistory } from "../crash/history.ts"
import { stopUnderLoad } from "../crash/stop-under-load.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

describe("a server that gets SIGTERM under load", () => {
  it.each([
    ["an embedded ledger", async () => ({})],
    ["a ledger in PostgreSQL", async () => ({ LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) })]
  ])("responds to every call that it received, charges no other, and exits with 0: %s", async (name, settings) => {
    await runHistory(name, await settings(), async (context) => {
      for (let stop = 0; stop < 10; stop++) await stopUnderLoad(context, await context.start())
      await context.checks.run()
    })
  })
})
