/** Runs programs and scripts, and measures their time and peak memory. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { start, waitForExit } from "../../support/programs.ts"
import { roundTo } from "../statistics.ts"
import { readPublishedAt } from "./sizes.ts"

export interface ProcessCost {
  readonly seconds: number
  /** Resident memory on Linux, undefined on other systems. The last 20 ms may be missing. */
  readonly peak_mb: number | undefined
}

/** The kernel keeps the maximum, so that only the last interval can be missed. */
const readPeakMemory = (pid: number | undefined) => {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1000
  } catch {
    return 0 // another system, or the process has just ended
  }
}

/** Fails with the stderr of the process if the process fails. */
export const measureProcess = async (command: string, begin: () => ChildProcess): Promise<ProcessCost> => {
  const startedAt = performance.now()
  const child = begin()
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, readPeakMemory(child.pid))
  }, 20)
  const { code, signal, stderr } = await waitForExit(child).finally(() => clearInterval(sampling))
  if (code !== 0) throw new Error(`${command} exited with ${code ?? signal}:\n${stderr}`)
  return { seconds: (performance.now() - startedAt) / 1000, peak_mb: peak === 0 ? undefined : Math.round(peak) }
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
export const measureIngest = async (home: string, file: string): Promise<ProcessCost & { readonly ended: number }> => {
  const startedAt = Date.now()
  const { peak_mb, seconds } = await measureProcess("larder-ingest", () =>
    start("larder-ingest", ["branded-foods", "--file", file], { LARDER_HOME: home })
  )
  const published = (readPublishedAt(path.join(home, "warehouse")) - startedAt) / 1000
  return { seconds: published, ended: roundTo(seconds, 2), peak_mb }
}

/** The round with the median time, with the peak memory of all rounds. */
export const combineRounds = <Measured extends ProcessCost>(rounds: ReadonlyArray<Measured>): Measured => {
  const middle = rounds.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(rounds.length / 2)]
  if (middle === undefined) throw new Error("nothing was measured")
  const peaks = rounds.map(({ peak_mb }) => peak_mb ?? 0)
  return { ...middle, seconds: roundTo(middle.seconds, 2), peak_mb: Math.max(...peaks) || undefined }
}
