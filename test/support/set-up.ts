/** What all tests of a run share: made before the first of them, and removed after the last. */
import type { TestProject } from "vitest/node"
import { providePostgres } from "./postgres/shared.ts"
import { provideSampleHome } from "./sample-home.ts"
import { provideServer } from "./shared-server.ts"

export default async (project: TestProject) => {
  const { ledger } = project.getProvidedContext()
  const removing = await Promise.all([
    provideSampleHome(project),
    ...(ledger === "in PostgreSQL" ? [providePostgres(project)] : [])
  ])
  const stop = await provideServer(project)
  return async () => {
    await stop()
    for (const remove of removing) await remove()
  }
}
