/** Measures time, CPU and memory of a run of `larder-ingest storefronts`, until all rows are staged and until its end. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { start, waitForExit } from "../../support/programs.ts"

export interface Measurement {
  /** Since the start of the process. */
  readonly seconds: number
  /** User and system time of all threads. */
  readonly cpu_seconds: number
  /** Peak resident memory so far. */
  readonly peak_mb: number
}

export interface RunCost {
  readonly staged: Measurement
  readonly published: Measurement
}

interface Sample extends Measurement {
  /** Milliseconds of the wall clock. */
  readonly at: number
}

const ticks = Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout) || 100

/** Undefined on systems other than Linux, and after the end of the process. */
const takeSample = (pid: number, startedAt: number): Sample | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ") // from the third on: the name before may contain spaces
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
    if (peak === undefined) return undefined // the process has ended
    const at = Date.now()
    const cpu_seconds = (Number(fields[11]) + Number(fields[12])) / ticks
    return { at, seconds: (at - startedAt) / 1000, cpu_seconds, peak_mb: Math.round(Number(peak) / 1000) }
  } catch {
    return undefined
  }
}

/** The output of the run. At `finished_at` everything was read and staged, and nothing merged. */
interface RunLine {
  readonly outcome: string
  readonly finished_at: string
}

/** Takes a sample every 50 ms, so the last 50 ms may be missing. Fails if the run fails. */
export const measureRun = async (home: string, folder: string): Promise<RunCost> => {
  const startedAt = Date.now()
  const child = start("larder-ingest", ["storefronts", "--replay", folder, "--json"], { LARDER_HOME: home })
  const samples: Array<Sample> = []
  const sampling = setInterval(() => {
    const sample = child.pid === undefined ? undefined : takeSample(child.pid, startedAt)
    if (sample) samples.push(sample)
  }, 50)
  const { code, signal, stderr, stdout } = await waitForExit(child).finally(() => clearInterval(sampling))
  const seconds = (Date.now() - startedAt) / 1000
  if (code !== 0) throw new Error(`larder-ingest exited with ${code ?? signal}:\n${stderr}`)
  const run = JSON.parse(stdout) as RunLine
  if (run.outcome !== "published") throw new Error(`The outcome of the run is ${run.outcome}:\n${stdout}${stderr}`)
  const stagedAt = Date.parse(run.finished_at)
  const last = samples.at(-1)
  const staged = samples.findLast(({ at }) => at <= stagedAt) ?? last
  const unknown = { cpu_seconds: Number.NaN, peak_mb: Number.NaN }
  return {
    staged: { ...unknown, ...staged, seconds: (stagedAt - startedAt) / 1000 },
    published: { ...unknown, ...last, seconds }
  }
}
