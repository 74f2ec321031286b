/** A folder for what a benchmark writes: many gigabytes, which are removed at its end and on Ctrl-C. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"

export const inTemporaryFolder = async (name: string, use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(path.join(tmpdir(), `larder-bench-${name}-`))
  const interrupted = () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 }) // what is being ended may still write
    process.exit(130)
  }
  process.once("SIGINT", interrupted)
  try {
    await use(folder)
  } finally {
    process.off("SIGINT", interrupted)
    rmSync(folder, { recursive: true, force: true })
  }
}
