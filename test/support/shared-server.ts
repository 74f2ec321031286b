/**
 * One server with the bundled samples for all test files of a run. Each file uses its own accounts. A test that needs
 * other settings, other data, a restart or the whole log starts its own server (`startOwnServer`).
 */
import { createWriteStream, rmSync } from "node:fs"
import path from "node:path"
import type { TestProject } from "vitest/node"
import { addQuickPasswords } from "./console/quick-passwords.ts"
import { newDatabase } from "./postgres/new-database.ts"
import { type Environment, startServer } from "./programs.ts"
import { copyHome } from "./sample-home.ts"

interface SharedServer {
  readonly home: string
  readonly api: string
  readonly console: string
  readonly environment: Environment
  /** The file of its log. */
  readonly log: string
}

declare module "vitest" {
  interface ProvidedContext {
    readonly sharedServer: SharedServer
  }
}

/** The host name for which the shared server responds in the paged shape. */
export const dataHost = "data.larder.test"

/** Starts the server on a copy of the sample home. Returns a function that ends it. */
export const provideServer = async (project: TestProject) => {
  const { ledger, postgresUrl, sampleHome } = project.getProvidedContext()
  const home = copyHome(sampleHome)
  const shared = ledger === "in PostgreSQL" ? { LARDER_LEDGER_URL: await newDatabase(postgresUrl) } : {}
  const environment = addQuickPasswords({ LARDER_DATA_HOST: dataHost, ...shared })
  const server = await startServer(home, environment)
  const log = path.join(home, "server.log")
  server.child.stderr?.pipe(createWriteStream(log))
  project.provide("sharedServer", { home, api: server.api, console: server.console, environment, log })
  return async () => {
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }
}
