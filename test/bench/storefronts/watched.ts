/** A run of `larder-ingest storefronts`: its time, its work and its memory, until all rows are staged and until its end. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { start, waitForExit } from "../../support/programs.ts"

export interface Moment {
  /** Since the start of the process. */
  readonly seconds: number
  /** Of all its threads, user and system. */
  readonly cpu_seconds: number
  /** The most that was resident until then. */
  readonly peak_mb: number
}

export interface Watched {
  readonly staged: Moment
  readonly published: Moment
}

interface Sample extends Moment {
  /** Milliseconds of the wall clock. */
  readonly at: number
}

const ticks = Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout) || 100

/** Linux only: elsewhere, and once the process has ended, there is nothing to see. */
const look = (pid: number, startedAt: number): Sample | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ") // from the third on: a name may hold blanks
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
    if (peak === undefined) return undefined // ended, and not yet waited for
    const at = Date.now()
    const cpu_seconds = (Number(fields[11]) + Number(fields[12])) / ticks
    return { at, seconds: (at - startedAt) / 1000, cpu_seconds, peak_mb: Math.round(Number(peak) / 1000) }
  } catch {
    return undefined
  }
}

/** What its line of JSON says: `finished_at` is when everything was read and staged, before anything is merged. */
interface RunLine {
  readonly outcome: string
  readonly finished_at: string
}

/** Samples come every 50 ms; what a process does in its last ones may be missing. A run that fails is an error. */
export const ingestWatched = async (home: string, folder: string): Promise<Watched> => {
  const startedAt = Date.now()
  const child = start("larder-ingest", ["storefronts", "--replay", folder, "--json"], { LARDER_HOME: home })
  const samples: Array<Sample> = []
  const looking = setInterval(() => {
    const seen = child.pid === undefined ? undefined : look(child.pid, startedAt)
    if (seen) samples.push(seen)
  }, 50)
  const { code, signal, stderr, stdout } = await waitForExit(child).finally(() => clearInterval(looking))
  const seconds = (Date.now() - startedAt) / 1000
  if (code !== 0) throw new Error(`larder-ingest ended with ${code ?? signal}:\n${stderr}`)
  const run = JSON.parse(stdout) as RunLine
  if (run.outcome !== "published") throw new Error(`The run ended as ${run.outcome}:\n${stdout}${stderr}`)
  const stagedAt = Date.parse(run.finished_at)
  const last = samples.at(-1)
  const staged = samples.findLast(({ at }) => at <= stagedAt) ?? last
  const unseen = { cpu_seconds: Number.NaN, peak_mb: Number.NaN }
  return {
    staged: { ...unseen, ...staged, seconds: (stagedAt - startedAt) / 1000 },
    published: { ...unseen, ...last, seconds }
  }
}
