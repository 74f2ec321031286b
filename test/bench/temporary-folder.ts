/** A temporary folder for a benchmark: it may contain many gigabytes, and is removed at the end and on Ctrl-C. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"

export const inTemporaryFolder = async (name: string, use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(path.join(tmpdir(), `larder-bench-${name}-`))
  const onInterrupt = () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 }) // a process that is ending may still write
    process.exit(130)
  }
  process.once("SIGINT", onInterrupt)
  try {
    await use(folder)
  } finally {
    process.off("SIGINT", onInterrupt)
    rmSync(folder, { recursive: true, force: true })
  }
}
