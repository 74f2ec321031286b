/** CPU time and memory of a running process, on Linux. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"

export interface Usage {
  /** User and system time of all threads. */
  readonly cpu_seconds: number
  readonly resident_mb: number
  /** The kernel keeps the maximum, so that samples miss only what comes after the last one. */
  readonly peak_mb: number
}

const ticks = Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout) || 100

/** Undefined on other systems, and after the end of the process. */
export const readUsage = (pid: number | undefined): Usage | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ") // from the third on: the name before may contain spaces
    const readMegabytes = (name: string) =>
      Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1000)
    const usage = {
      cpu_seconds: (Number(fields[11]) + Number(fields[12])) / ticks,
      resident_mb: readMegabytes("VmRSS"),
      peak_mb: readMegabytes("VmHWM")
    }
    return Number.isNaN(usage.peak_mb) ? undefined : usage // a process that has ended has no memory
  } catch {
    return undefined
  }
}
