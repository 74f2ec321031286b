/** How long a process takes, from its start to its end, and the most memory it held. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { start, waitForExit } from "../../support/programs.ts"
import { rounded } from "../statistics.ts"
import { publishedAt } from "./sizes.ts"

export interface Timed {
  readonly seconds: number
  /** Resident, as Linux counts it; undefined on other systems. What came in the last 20 ms may be missing. */
  readonly peak_mb: number | undefined
}

/** The kernel keeps the maximum itself, so looking rarely loses nothing but the end. */
const highWater = (pid: number | undefined) => {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1000
  } catch {
    return 0 // another system, or it ended just now
  }
}

/** A process that fails is an error, with what it wrote to stderr. */
export const timed = async (what: string, begin: () => ChildProcess): Promise<Timed> => {
  const startedAt = performance.now()
  const child = begin()
  let peak = 0
  const looking = setInterval(() => {
    peak = Math.max(peak, highWater(child.pid))
  }, 20)
  const { code, signal, stderr } = await waitForExit(child).finally(() => clearInterval(looking))
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal}:\n${stderr}`)
  return { seconds: (performance.now() - startedAt) / 1000, peak_mb: peak === 0 ? undefined : Math.round(peak) }
}

/** A script of this folder, with what it is told as JSON in its first argument. */
export const script = (file: string, told: unknown, stdout: "ignore" | "pipe" = "ignore"): ChildProcess =>
  spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", path.join(import.meta.dirname, file), JSON.stringify(told)],
    { stdio: ["ignore", stdout, "pipe"] }
  )

export const timedScript = (file: string, told: unknown) => timed(file, () => script(file, told))

/** What a script prints, as JSON. */
export const answered = async <A>(file: string, told: unknown): Promise<A> => {
  const { code, signal, stderr, stdout } = await waitForExit(script(file, told, "pipe"))
  if (code !== 0) throw new Error(`${file} ended with ${code ?? signal}:\n${stderr}`)
  return JSON.parse(stdout) as A
}

/** Until the generation is live; `whole` is until the payloads are packed, too, and the process has ended. */
export const timedIngest = async (home: string, file: string): Promise<Timed & { readonly whole: number }> => {
  const startedAt = Date.now()
  const { peak_mb, seconds } = await timed("larder-ingest", () =>
    start("larder-ingest", ["branded-foods", "--file", file], { LARDER_HOME: home })
  )
  const published = (publishedAt(path.join(home, "warehouse")) - startedAt) / 1000
  return { seconds: published, whole: rounded(seconds, 2), peak_mb }
}

/** The median time with what else was measured in that round, and the most memory of all rounds. */
export const middleOf = <Measured extends Timed>(rounds: ReadonlyArray<Measured>): Measured => {
  const middle = rounds.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(rounds.length / 2)]
  if (middle === undefined) throw new Error("nothing was measured")
  const peaks = rounds.map(({ peak_mb }) => peak_mb ?? 0)
  return { ...middle, seconds: rounded(middle.seconds, 2), peak_mb: Math.max(...peaks) || undefined }
}
