/** New databases for the console's tables, one per kind. A database can be opened several times. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { postgresConsole } from "@larder/serve/ledger"
import type { ConsoleDatabase } from "@larder/serve/persistence"
import { Effect, type Layer, Redacted } from "effect"
import { inject } from "vitest"
import { pooledDatabase } from "../postgres/new-database.ts"
import type { Environment } from "../programs.ts"
import { consoleIn } from "./sqlite-console.ts"

export interface TestDatabase {
  readonly layer: Layer.Layer<ConsoleDatabase, unknown>
  /** For another process that opens the same tables. */
  readonly environment: Environment
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-console-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const consoleDatabases = {
  SQLite: Effect.map(
    folder,
    (home): TestDatabase => ({
      layer: consoleIn(path.join(home, "ledger")),
      environment: { LARDER_HOME: home }
    })
  ),
  PostgreSQL: Effect.flatMap(folder, (home) =>
    Effect.map(
      Effect.suspend(() => pooledDatabase(inject("postgresUrl"))),
      (url): TestDatabase => ({
        layer: postgresConsole(Redacted.make(url)),
        environment: { LARDER_HOME: home, LARDER_LEDGER_URL: url }
      })
    )
  )
} as const

export const consoleDatabaseKinds = ["SQLite", "PostgreSQL"] as const
