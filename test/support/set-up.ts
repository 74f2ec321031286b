/** Makes what all tests of a run share, before the first test, and removes it after the last. */
import type { TestProject } from "vitest/node"
import { providePostgres } from "./postgres/shared.ts"
import { provideSampleHome } from "./sample-home.ts"
import { provideServer } from "./shared-server.ts"

export default async (project: TestProject) => {
  const { ledger } = project.getProvidedContext()
  const removals: Array<() => unknown> = []
  const provide = async (making: Promise<() => unknown>) => void removals.unshift(await making)
  const remove = async () => {
    for (const removal of removals) await removal()
  }
  try {
    const making = [provide(provideSampleHome(project))]
    if (ledger === "in PostgreSQL") making.push(provide(providePostgres(project)))
    await Promise.allSettled(making) // so that everything is removed if one fails
    await Promise.all(making)
    await provide(provideServer(project))
    return remove
  } catch (cause) {
    await remove()
    throw cause
  }
}
