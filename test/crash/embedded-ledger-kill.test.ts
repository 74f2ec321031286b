/**
 * Kills real servers with -9 under load, again and again over one embedded ledger: calling, starting, and with a journal
 * that a power cut has torn. Each 200 that a caller has received is charged once, whatever the moment. Three kills take 15
 * seconds; `npm run test:crash` kills more often.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { ended, type Server, start } from "../programs.ts"
import type { Place } from "./cast.ts"
import type { Chance } from "./chance.ts"
import { type History, history } from "./history.ts"
import { histories, longest } from "./kills.ts"
import { tearJournal, tears } from "./torn-journal.ts"

const killCalling = async ({ call, chance, count }: History, server: Server) => {
  const callers = call(server)
  await callers.underWay
  await sleep(chance.between(0, 400))
  count("kills under load")
  count("calls in flight at them", callers.waiting())
  callers.giveUp()
  await server.stop("SIGKILL")
  await callers.end()
}

/** A little longer than a start takes. */
const longestStart = 1_500

/** Kills a server that opens the ledger, or has just opened it. */
const killStarting = async ({ home }: Place, { between }: Chance) => {
  const free = { LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }
  const child = start("larder-serve", ["start"], { LARDER_HOME: home, ...free })
  const end = ended(child)
  await sleep(between(0, longestStart))
  child.kill("SIGKILL")
  expect((await end).signal).toBe("SIGKILL")
}

/** Answers with the journal file that the next start should report. */
const powerCut = ({ chance, count, diary, place }: History) => {
  const how = chance.oneOf(tears)
  const file = tearJournal(place.home, how, (requestId) => diary.paid.has(requestId), chance)
  if (file !== undefined) count("torn journals")
  return how === "its beginning" ? undefined : file
}

describe("an embedded ledger whose server is hit by kill -9 under load", () => {
  it.each(histories)(
    "holds each 200 once, and nothing that nobody asked for ($kills kills)",
    async ({ kills }) => {
      await history("embedded ledger", {}, async (its) => {
        const { books, cast, chance, count, place } = its
        let server = await its.start()
        for (let number = 0; number < kills; number++) {
          if (number > 0) await cast.giveMore()
          await killCalling(its, server)
          const torn = number % 3 === 1 ? powerCut(its) : undefined
          if (number % 3 === 2) {
            count("kills while starting")
            await killStarting(place, chance)
          }
          server = await its.start()
          if (torn !== undefined) expect(server.logs()).toContain(`The last group in ${torn}, at byte`)
          await books.check()
        }
        await server.stop()
        await books.check() // by commands that open the ledger themselves
      })
    },
    longest
  )
})
