/**
 * One history of a ledger: it begins empty, has its callers, and is held against its books after each blow. Whatever
 * happens no server outlives it, and what it came to is printed, with the seed.
 */
import { rmSync } from "node:fs"
import { inject } from "vitest"
import { setLedgerUrl } from "../support/api/operator.ts"
import { type Environment, type Server, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import { type Books, makeBooks } from "./books.ts"
import { type Callers, startCallers } from "./callers.ts"
import { type Cashier, hireCashier } from "./cashier.ts"
import { type Cast, hire, type Place } from "./cast.ts"
import { type Chance, chanceFrom, newSeed } from "./chance.ts"
import { type Diary, startDiary } from "./diary.ts"
import { listOf, type Numbers } from "./kills.ts"

export interface History {
  /** For what happens when. Callers have a chance of their own. */
  readonly chance: Chance
  readonly place: Place
  readonly cast: Cast
  readonly diary: Diary
  readonly cashier: Cashier
  readonly books: Books
  readonly start: () => Promise<Server>
  readonly call: (server: Server) => Callers
  /** Adds to a number that is printed. */
  readonly count: (what: string, by?: number) => void
}

/** The end of a log is where the trouble is. */
const mostLogged = 4_000

/** `environment` says where the ledger is: in PostgreSQL, or else in a home of its own. Returns what it came to. */
export const history = async (
  name: string,
  environment: Environment,
  happen: (history: History) => Promise<void>
): Promise<Numbers> => {
  const seed = newSeed()
  const drawing = chanceFrom(seed + 1)
  const place = { home: copyHome(inject("sampleHome")), environment }
  const servers: Array<Server> = []
  const counts: Record<string, number> = {}
  const diary = startDiary()
  let books: Books | undefined
  const numbers = () => ({ ...counts, ...books?.counts() })
  if (environment.LARDER_LEDGER_URL !== undefined) setLedgerUrl(place.home, environment.LARDER_LEDGER_URL)
  try {
    const cast = await hire(place)
    const cashier = hireCashier(place, cast, chanceFrom(seed + 2))
    books = makeBooks(place, cast, diary, cashier)
    await happen({
      chance: chanceFrom(seed),
      place,
      cast,
      diary,
      cashier,
      books,
      start: async () => {
        const server = await startServer(place.home, environment)
        servers.push(server)
        return server
      },
      call: ({ api }) => startCallers(api, () => cast.draw(drawing), diary),
      count: (what, by = 1) => {
        counts[what] = (counts[what] ?? 0) + by
      }
    })
    return numbers()
  } catch (error) {
    for (const { child, logs } of servers) console.error(`server ${child.pid} logged:\n${logs().slice(-mostLogged)}`)
    throw error
  } finally {
    await Promise.all(servers.map((server) => server.stop("SIGKILL")))
    rmSync(place.home, { recursive: true, force: true })
    console.log(`${name}, LARDER_CRASH_SEED=${seed}: ${listOf(numbers())}`)
  }
}
