/** One PostgreSQL server for all tests of a run. Each takes databases of its own from it, and nobody stops or kills it. */
import type { TestProject } from "vitest/node"
import { startPostgres } from "./server.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** For `newDatabase`; a test that kills a server starts its own. */
    readonly postgresUrl: string
  }
}

/** Starts it; answers how to end it. */
export const providePostgres = async (project: TestProject) => {
  // it would look through each of hundreds of databases every minute, long after their tests
  const server = await startPostgres(["autovacuum=off"])
  project.provide("postgresUrl", server.url)
  return () => server.remove()
}
