/**
 * Runs one history of a ledger, which begins empty, has callers, and is checked after each kill. At its end, all servers
 * are killed, and counts of what happened are printed with the seed.
 */
import { rmSync } from "node:fs"
import { inject } from "vitest"
import { setLedgerUrl } from "../support/api/operator.ts"
import { type Environment, type Server, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import { type Actors, createActors, type Setup } from "./actors.ts"
import { type BookingActor, makeBookingActor } from "./bookings.ts"
import { type Callers, startCallers } from "./callers.ts"
import { type Chance, chanceFrom, newSeed } from "./chance.ts"
import { formatCounts, type Numbers } from "./kills.ts"
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
  /** Adds to a count that is printed. */
  readonly count: (name: string, by?: number) => void
}

/** Characters: the end of a log shows the problem. */
const maxLogged = 4_000

/** `environment` sets where the ledger is: in PostgreSQL, or in its own home. Returns counts of what happened. */
export const runHistory = async (
  name: string,
  environment: Environment,
  run: (history: History) => Promise<void>
): Promise<Numbers> => {
  const seed = newSeed()
  const callChance = chanceFrom(seed + 1)
  const setup = { home: copyHome(inject("sampleHome")), environment }
  const servers: Array<Server> = []
  const counts: Record<string, number> = {}
  const observations = recordObservations()
  let checks: LedgerChecks | undefined
  const numbers = () => ({ ...counts, ...checks?.counts() })
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
      count: (name, by = 1) => {
        counts[name] = (counts[name] ?? 0) + by
      }
    })
    return numbers()
  } catch (error) {
    for (const { child, logs } of servers) console.error(`server ${child.pid} logged:\n${logs().slice(-maxLogged)}`)
    throw error
  } finally {
    await Promise.all(servers.map((server) => server.stop("SIGKILL")))
    rmSync(setup.home, { recursive: true, force: true })
    console.log(`${name}, LARDER_CRASH_SEED=${seed}: ${formatCounts(numbers())}`)
  }
}
