/** Servers that are told to stop while callers go on calling. */
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, inject, it } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { history } from "./history.ts"

export const stopsUnderLoad = ({ stops }: { readonly stops: number }) =>
  describe("a server that gets SIGTERM under load", () => {
    it.each([
      ["an embedded ledger", async () => ({})],
      ["a ledger in PostgreSQL", async () => ({ LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) })]
    ])("answers every call that it received, charges no other, and exits with 130: %s", async (name, place) => {
      await history(name, await place(), async ({ books, call, chance, count, start }) => {
        for (let stop = 0; stop < stops; stop++) {
          const server = await start()
          const callers = call(server)
          await callers.underWay
          await sleep(chance.between(0, 400))
          count("calls in flight at SIGTERM", callers.waiting())
          callers.tolerate("refused connections")
          expect(await server.stop("SIGTERM")).toBe(130)
          await callers.end()
        }
        await books.check()
      })
    })
  })
