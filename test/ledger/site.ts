/** Servers for the tests of a file: one with an embedded ledger, or two that share a ledger in PostgreSQL. */
import { rmSync } from "node:fs"
import { afterAll, beforeAll, inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { admin, type CreatedKey, type Environment, newKey, type Server, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

export const sites = {
  "one server over an embedded ledger": { count: 1, ledger: async (): Promise<Environment> => ({}) },
  "two servers over one PostgreSQL": {
    count: 2,
    ledger: async (): Promise<Environment> => ({ LARDER_LEDGER_URL: await newDatabase(inject("postgresUrl")) })
  }
} as const

/** Starts and stops the servers in the hooks of the group. The returned functions may be used inside tests. */
export const site = (name: keyof typeof sites) => {
  let home = ""
  let environment: Environment = {}
  const running: Array<Server> = []

  beforeAll(async () => {
    const { count, ledger } = sites[name]
    environment = await ledger()
    home = copyHome(inject("sampleHome"))
    for (let number = 0; number < count; number++) running.push(await startServer(home, environment))
  })
  afterAll(async () => {
    await Promise.all(running.map((server) => server.stop()))
    if (home !== "") rmSync(home, { recursive: true, force: true })
  })

  return {
    servers: (): ReadonlyArray<Server> => running,
    /** Runs a command in a separate process. */
    command: <A>(...args: ReadonlyArray<string>) => admin<A>(home, args, environment),
    /** Creates an account with its 5,000 credits, and a key. */
    newKey: (options: { readonly budget?: string } = {}): Promise<CreatedKey> =>
      newKey(home, { ...options, environment })
  }
}
