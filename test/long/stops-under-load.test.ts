/** Servers that are told to stop under load, again and again; the histories of kills end with one such stop. */
import { describe, inject, it } from "vitest"
import { history } from "../crash/history.ts"
import { stopUnderLoad } from "../crash/stop-under-load.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

describe("a server that gets SIGTERM under load", () => {
  it.each([
    ["an embedded ledger", async () => ({})],
    ["a ledger in PostgreSQL", async () => ({ LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) })]
  ])("answers every call that it received, charges no other, and exits with 130: %s", async (name, place) => {
    await history(name, await place(), async (its) => {
      for (let stop = 0; stop < 10; stop++) await stopUnderLoad(its, await its.start())
      await its.books.check()
    })
  })
})
