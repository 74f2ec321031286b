/**
 * Compares this checkout with another one, such as a clone of the parent commit with its own `node_modules`: `--against
 * FOLDER`. Each has homes of its own, which its own programs fill, and both are measured in turns.
 */
import path from "node:path"
import { run, type Server, startServer } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { createFundedKey } from "./servers.ts"
import { describeRatios, describeRounds, type Numbers, takeTurns } from "./turns.ts"

const names = ["this", "against"] as const
export type Both<A> = Readonly<Record<(typeof names)[number], A>>

export const findCheckouts = (against: string): Both<string> => ({ this: repository, against: path.resolve(against) })

/** One after the other. */
export const mapBoth = async <A, B>(both: Both<A>, use: (value: A, name: string) => Promise<B>): Promise<Both<B>> => ({
  this: await use(both.this, "this"),
  against: await use(both.against, "against")
})

/** Rows of a table. */
export const describeBoth = <A extends object & Numbers<A>>(measured: Both<ReadonlyArray<A>>) => ({
  this: describeRounds(measured.this),
  against: describeRounds(measured.against),
  "this ÷ against": describeRatios(measured.this, measured.against)
})

export const compareInTurns = async <A extends object & Numbers<A>>(
  title: string,
  rounds: number,
  measure: Both<(round: number) => Promise<A>>
) => {
  const measured = await takeTurns(rounds, measure)
  console.log(`\n${title}`)
  console.table(describeBoth(measured))
}

export interface ChargedServer extends Server {
  readonly home: string
  readonly key: string
}

/** Starts a server of each checkout on a home of its own, which `larder-ingest` of that checkout has filled. */
export const startBoth = (folder: string, checkouts: Both<string>, ingest: ReadonlyArray<string>) =>
  mapBoth(checkouts, async (checkout, name): Promise<ChargedServer> => {
    const home = path.join(folder, name)
    const { code, stderr } = await run("larder-ingest", ingest, { LARDER_HOME: home }, checkout)
    if (code !== 0) throw new Error(stderr)
    const key = await createFundedKey(home, { checkout })
    return { ...(await startServer(home, {}, [], checkout)), home, key }
  })

export const stopBoth = (servers: Both<Server>) => mapBoth(servers, (server) => server.stop())
