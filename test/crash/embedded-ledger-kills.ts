/**
 * Kills real servers with -9 under load, again and again over one embedded ledger: calling, starting, and with a write-ahead
 * log that a power cut has torn. In the end one is stopped under load. Each 200 that a caller has received is charged
 * once, at any moment. Two kills cover all of that except a long log, which the long run covers.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { type Server, start, waitForExit } from "../support/programs.ts"
import type { Place } from "./cast.ts"
import type { Chance } from "./chance.ts"
import { type History, history } from "./history.ts"
import { historiesWith, longest, portion, totalsOf } from "./kills.ts"
import { stopUnderLoad } from "./stop-under-load.ts"
import { headerLength, logIn, tearLog, tears } from "./torn-log.ts"

/** Then a thread copies pages into the file while they change, or a commit has just reset the log. */
const longLog = 1_000_000

const headerOf = (log: string) => {
  const header = Buffer.alloc(headerLength)
  const fd = openSync(log, "r")
  readSync(fd, header)
  closeSync(fd)
  return header
}

const fullLog = async ({ chance, place }: History) => {
  const log = logIn(path.join(place.home, "ledger"))
  const first = headerOf(log)
  while (statSync(log).size < longLog && headerOf(log).equals(first)) await sleep(1)
  await sleep(chance.between(0, 100))
}

const killCalling = async (its: History, server: Server, number: number) => {
  const { call, cashier, chance, count } = its
  const callers = call(server)
  cashier.begin()
  await callers.underWay
  if (number % portion === portion - 1) await fullLog(its)
  else await sleep(chance.between(0, 400))
  count("kills under load")
  count("calls in flight at them", callers.waiting())
  callers.giveUp()
  await server.stop("SIGKILL")
  await Promise.all([callers.end(), cashier.end()])
}

/** A little longer than a start takes. */
const longestStart = 1_500

/** Kills a server that opens the ledger, or has just opened it. */
const killStarting = async ({ home }: Place, { between }: Chance) => {
  const free = { LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }
  const child = start("larder-serve", ["start"], { LARDER_HOME: home, ...free })
  const end = waitForExit(child)
  await sleep(between(0, longestStart))
  child.kill("SIGKILL")
  expect((await end).signal).toBe("SIGKILL")
}

/** SQLite drops without a word what was not written to its end. */
const powerCut = ({ cashier, chance, count, diary, place }: History) => {
  const wasTold = (id: string) => diary.paid.has(id) || cashier.wasTold(id)
  count(`logs with a part of ${tearLog(place.home, chance.oneOf(tears), wasTold, chance)}`)
}

export const embeddedLedgerKills = (most: { readonly kills: number }) =>
  describe("an embedded ledger whose server is killed with -9 under load", () => {
    const add = totalsOf("embedded ledger")

    it.each(historiesWith(most.kills))(
      "has one charge for each 200 that a caller received, and no other, after $kills kills and a stop that answers all",
      async ({ kills }) => {
        const numbers = await history("embedded ledger", {}, async (its) => {
          const { books, cast, chance, count, place } = its
          let server = await its.start()
          for (let number = 0; number < kills; number++) {
            if (number > 0) await cast.giveMore()
            await killCalling(its, server, number)
            if (number % 3 === 0) powerCut(its)
            if (number % 3 === 1) {
              count("kills while starting")
              await killStarting(place, chance)
            }
            server = await its.start()
            expect(await its.cashier.again()).toEqual([])
            await books.check()
          }
          await stopUnderLoad(its, server)
          await books.check() // by commands that open the ledger themselves
        })
        add(numbers)
      },
      longest
    )
  })
