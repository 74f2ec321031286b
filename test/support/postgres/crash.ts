/** Ends a PostgreSQL server like a power failure: all processes at once, and none writes anything after that. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/**
 * A backend survives its postmaster until it next waits for something, and could still commit. So the postmaster is stopped
 * first, so that it starts no more backends and notices nothing; then its children are killed, and finally the postmaster.
 * Each backend has its own session, so a signal to a process group would reach none of them.
 */
export const crash = async (postmaster: number): Promise<void> => {
  if (process.platform === "win32") {
    execFileSync("taskkill", ["/f", "/t", "/pid", String(postmaster)])
    return
  }
  signal(postmaster, "SIGSTOP")
  for (let remaining = listChildren(postmaster); remaining.length > 0; remaining = listChildren(postmaster)) {
    for (const child of remaining) signal(child, "SIGKILL")
    await sleep(2)
  }
  signal(postmaster, "SIGKILL")
}

/** Ignores a process that has already ended. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause
  }
}

const listChildren = (pid: number) =>
  listProcesses()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid)

export const isRunning = (pid: number): boolean => listProcesses().some((other) => other.pid === pid)

interface Process {
  readonly pid: number
  readonly parent: number
}

/** All processes except ended ones whose parent has not noticed: in a container, it may never notice. */
const listProcesses = (): ReadonlyArray<Process> => {
  const lines = process.platform === "linux" ? readProc() : runPs()
  return lines.flatMap(([pid, parent, state = "Z"]) =>
    /^[ZX]/.test(state) ? [] : [{ pid: Number(pid), parent: Number(parent) }]
  )
}

/** Small Linux images have no `ps`. */
const readProc = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      // `pid (name) state parent …`; the name may contain spaces and brackets
      const [state, parent] = readStat(pid).split(") ").at(-1)?.split(" ") ?? []
      return [pid, parent, state]
    })

const readStat = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
  } catch {
    return `${pid} () X 0` // it ended after the folder was read
  }
}

const runPs = () =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
