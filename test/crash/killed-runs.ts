/** Runs of `larder-ingest` that are ended at moments which are seen in the folders of their home. */
import { existsSync, readdirSync } from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { type Ended, ended, start } from "../support/programs.ts"

/** How often each moment is met, each time a little later. */
export const rounds = Number(process.env.LARDER_CRASH_ROUNDS ?? 1)

export const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** What runs have in their staging folders. */
export const staged = (home: string) =>
  namesIn(path.join(home, "staging")).flatMap((run) => namesIn(path.join(home, "staging", run)))

/** Runs a pipeline, waits for the moment, and kills. A run that is over before it is seen has ended by itself. */
export const runKilled = async (
  home: string,
  args: ReadonlyArray<string>,
  hasCome: () => boolean,
  { delay = 0, signal = "SIGKILL" }: { readonly delay?: number; readonly signal?: NodeJS.Signals } = {}
): Promise<Ended> => {
  const child = start("larder-ingest", [...args, "--json"], { LARDER_HOME: home })
  const end = ended(child)
  while (child.exitCode === null && !hasCome()) await setTimeout(1)
  if (delay > 0) await setTimeout(delay)
  child.kill(signal)
  return end
}
