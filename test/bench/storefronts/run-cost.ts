/** Measures time, CPU and memory of a run of `larder-ingest storefronts`, until all rows are staged and until its end. */
import { start, waitForExit } from "../../support/programs.ts"
import { readUsage, type Usage } from "../process-usage.ts"

/** The peak is that until then. */
export interface Measurement extends Pick<Usage, "cpu_seconds" | "peak_mb"> {
  /** Since the start of the process. */
  readonly seconds: number
}

export interface RunCost {
  readonly staged: Measurement
  readonly published: Measurement
}

interface Sample extends Usage {
  /** Milliseconds of the wall clock. */
  readonly at: number
}

/** The output of the run. At `finished_at` everything was read and staged, and nothing merged. */
interface RunLine {
  readonly outcome: string
  readonly finished_at: string
}

/** Takes a sample every 50 ms, so the last 50 ms may be missing. Fails if the run fails. */
export const measureRun = async (home: string, folder: string, checkout?: string): Promise<RunCost> => {
  const startedAt = Date.now()
  const child = start("larder-ingest", ["storefronts", "--replay", folder, "--json"], { LARDER_HOME: home }, checkout)
  const samples: Array<Sample> = []
  const sampling = setInterval(() => {
    const usage = readUsage(child.pid)
    if (usage) samples.push({ ...usage, at: Date.now() })
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
