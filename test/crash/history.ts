/**
 * Runs one history of a ledger, which begins empty, has callers, and is checked after each kill. At its end, all servers
 * are killed.
 */
import { rmSync } from "node:fs"
import { inject } from "vitest"
import { setLedgerUrl } from "../support/api/operator.ts"
import { type Environment, type Server, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import { type Actors, createActors, type Setup } from "./actors.ts"
import { type BookingActor, makeBookingActor } from "./bookings.ts"
import { type Callers, startCallers } from "./callers.ts"
import { type Chance, chanceFrom } from "./chance.ts"
import { type Count, type Numbers, runSeeded } from "./killing.ts"
import { type LedgerChecks, makeLedgerChecks } from "./ledger-checks.ts"
import { type Observations, recordObservations } from "./observations.ts"

export interface History {
  /** Random decisions of the history. Callers have their own. */
  readonly chance: Chance
  readonly setup: Setup
  readonly actors: Actors
  readonly observations: Observations
  readonly bookings: BookingActor
  readonly checks: LedgerChecks
  readonly start: () => Promise<Server>
  readonly call: (server: Server) => Callers
  readonly count: Count
}

/** Characters: the end of a log shows the problem. */
const maxLogged = 4_000

/** `environment` sets where the ledger is: in PostgreSQL, or in its own home. Returns counts of what happened. */
export const runHistory = (
  name: string,
  environment: Environment,
  run: (history: History) => Promise<void>
): Promise<Numbers> =>
  runSeeded(name, async (seed, count) => {
    const callChance = chanceFrom(seed + 1)
    const setup = { home: copyHome(inject("sampleHome")), environment }
    const servers: Array<Server> = []
    const observations = recordObservations()
    let checks: LedgerChecks | undefined
    if (environment.LARDER_LEDGER_URL !== undefined) setLedgerUrl(setup.home, environment.LARDER_LEDGER_URL)
    try {
      const actors = await createActors(setup)
      const bookings = makeBookingActor(setup, actors, chanceFrom(seed + 2))
      checks = makeLedgerChecks(setup, actors, observations, bookings)
      await run({
        chance: chanceFrom(seed),
        setup,
        actors,
        observations,
        bookings,
        checks,
        start: async () => {
          const server = await startServer(setup.home, environment)
          servers.push(server)
          return server
        },
        call: ({ api }) => startCallers(api, () => actors.draw(callChance), observations),
        count
      })
    } catch (error) {
      for (const { child, logs } of servers) console.error(`server ${child.pid} logged:\n${logs().slice(-maxLogged)}`)
      throw error
    } finally {
      await Promise.all(servers.map((server) => server.stop("SIGKILL")))
      rmSync(setup.home, { recursive: true, force: true })
      for (const [name, number] of Object.entries(checks?.counts() ?? {})) count(name, number)
    }
  })
