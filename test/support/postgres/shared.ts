/** One PostgreSQL server for all tests of a run. Each test uses its own databases; none stops or kills the server. */
import type { TestProject } from "vitest/node"
import { startPostgres } from "./server.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's URL, for `newDatabase`. A test that kills a server starts its own. */
    readonly postgresUrl: string
  }
}

/** Starts the server. Returns a function that ends it. */
export const providePostgres = async (project: TestProject) => {
  // otherwise it would scan each of hundreds of databases every minute, long after their tests
  const server = await startPostgres(["autovacuum=off"])
  project.provide("postgresUrl", server.url)
  return () => server.remove()
}
