/** What all tests of a run share: made before the first of them, and removed after the last. */
import type { TestProject } from "vitest/node"
import { providePostgres } from "./postgres/shared.ts"
import { provideSampleHome } from "./sample-home.ts"
import { provideServer } from "./shared-server.ts"

export default async (project: TestProject) => {
  const { ledger } = project.getProvidedContext()
  const removing: Array<() => unknown> = []
  const provided = async (made: Promise<() => unknown>) => void removing.unshift(await made)
  const remove = async () => {
    for (const one of removing) await one()
  }
  try {
    const making = [provided(provideSampleHome(project))]
    if (ledger === "in PostgreSQL") making.push(provided(providePostgres(project)))
    await Promise.allSettled(making) // so that everything that was made is removed
    await Promise.all(making)
    await provided(provideServer(project))
    return remove
  } catch (cause) {
    await remove()
    throw cause
  }
}
