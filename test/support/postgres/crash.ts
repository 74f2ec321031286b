/** Ends a PostgreSQL server as a power cut would: every process at once, and none of them writes anything more. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/**
 * A backend outlives its postmaster until it next waits for something, and could still commit. So the postmaster is held
 * first, which keeps it from starting more of them or noticing anything, then its children end, and it ends last. Each
 * backend has a session of its own: a signal to a process group would reach none of them.
 */
export const crash = async (postmaster: number): Promise<void> => {
  if (process.platform === "win32") {
    execFileSync("taskkill", ["/f", "/t", "/pid", String(postmaster)])
    return
  }
  signal(postmaster, "SIGSTOP")
  for (let left = childrenOf(postmaster); left.length > 0; left = childrenOf(postmaster)) {
    for (const child of left) signal(child, "SIGKILL")
    await sleep(2)
  }
  signal(postmaster, "SIGKILL")
}

/** A process that is already gone is what the sender wants. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause
  }
}

const childrenOf = (pid: number) =>
  running()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid)

export const isRunning = (pid: number): boolean => running().some((one) => one.pid === pid)

interface Running {
  readonly pid: number
  readonly parent: number
}

/** Every process but those that ended and wait for their parent to notice: in a container perhaps nobody ever does. */
const running = (): ReadonlyArray<Running> => {
  const lines = process.platform === "linux" ? fromProc() : fromPs()
  return lines.flatMap(([pid, parent, state = "Z"]) =>
    /^[ZX]/.test(state) ? [] : [{ pid: Number(pid), parent: Number(parent) }]
  )
}

/** Small Linux images come without `ps`. */
const fromProc = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      // `pid (name) state parent …`; the name may hold spaces and brackets
      const [state, parent] = statOf(pid).split(") ").at(-1)?.split(" ") ?? []
      return [pid, parent, state]
    })

const statOf = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
  } catch {
    return `${pid} () X 0` // it ended after the folder was read
  }
}

const fromPs = () =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
