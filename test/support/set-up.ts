/** Makes what all tests of a run share, before the first test, and removes it after the last. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { TestProject } from "vitest/node"
import { providePostgres } from "./postgres/shared.ts"
import { provideSampleHome } from "./sample-home.ts"
import { provideServer } from "./shared-server.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** For what several test files of one worker use, so that none of them can remove it. */
    readonly runFolder: string
  }
}

export default async (project: TestProject) => {
  const { ledger } = project.getProvidedContext()
  const folder = mkdtempSync(path.join(tmpdir(), "larder-run-"))
  project.provide("runFolder", folder)
  const removals: Array<() => unknown> = [() => rmSync(folder, { recursive: true, force: true })]
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
