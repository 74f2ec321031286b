/** Runs programs and scripts, and measures their time, CPU and peak memory. */
import { type ChildProcess, spawn } from "node:child_process"
import path from "node:path"
import { start, waitForExit } from "../../support/programs.ts"
import { readUsage, type Usage } from "../process-usage.ts"
import { roundTo } from "../statistics.ts"
import { readPublishedAt } from "./sizes.ts"

/** NaN on systems other than Linux. The last 20 ms may be missing. */
type ProcessUsage = Pick<Usage, "cpu_seconds" | "peak_mb">

export interface ProcessCost extends ProcessUsage {
  readonly seconds: number
}

/** Fails with the stderr of the process if the process fails. */
export const measureProcess = async (command: string, begin: () => ChildProcess): Promise<ProcessCost> => {
  const startedAt = performance.now()
  const child = begin()
  let usage: ProcessUsage = { cpu_seconds: Number.NaN, peak_mb: Number.NaN }
  const sampling = setInterval(() => {
    usage = readUsage(child.pid) ?? usage
  }, 20)
  const { code, signal, stderr } = await waitForExit(child).finally(() => clearInterval(sampling))
  if (code !== 0) throw new Error(`${command} exited with ${code ?? signal}:\n${stderr}`)
  const { cpu_seconds, peak_mb } = usage
  return { seconds: (performance.now() - startedAt) / 1000, cpu_seconds, peak_mb }
}

/** Starts a script of this folder. Its task is JSON in its first argument. */
const startScript = (file: string, task: unknown, stdout: "ignore" | "pipe" = "ignore"): ChildProcess =>
  spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", path.join(import.meta.dirname, file), JSON.stringify(task)],
    { stdio: ["ignore", stdout, "pipe"] }
  )

export const measureScript = (file: string, task: unknown) => measureProcess(file, () => startScript(file, task))

/** Runs a script, and parses the JSON that it prints. */
export const runScript = async <A>(file: string, task: unknown): Promise<A> => {
  const { code, signal, stderr, stdout } = await waitForExit(startScript(file, task, "pipe"))
  if (code !== 0) throw new Error(`${file} exited with ${code ?? signal}:\n${stderr}`)
  return JSON.parse(stdout) as A
}

/** The seconds until the generation is live. `ended` includes compressing large payloads, until the process ends. */
export const measureIngest = async (
  home: string,
  file: string,
  checkout?: string
): Promise<ProcessCost & { readonly ended: number }> => {
  const startedAt = Date.now()
  const { seconds, ...usage } = await measureProcess("larder-ingest", () =>
    start("larder-ingest", ["branded-foods", "--file", file], { LARDER_HOME: home }, checkout)
  )
  const published = (readPublishedAt(path.join(home, "warehouse")) - startedAt) / 1000
  return { seconds: published, ended: roundTo(seconds, 2), ...usage }
}

/** The round with the median time, with the peak memory of all rounds. */
export const combineRounds = <Measured extends ProcessCost>(rounds: ReadonlyArray<Measured>): Measured => {
  const middle = rounds.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(rounds.length / 2)]
  if (middle === undefined) throw new Error("nothing was measured")
  const peak_mb = Math.max(...rounds.map((round) => round.peak_mb))
  return { ...middle, seconds: roundTo(middle.seconds, 2), peak_mb }
}
