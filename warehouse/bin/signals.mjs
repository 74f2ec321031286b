/**
 * When a process of Larder stops. A file that starts one imports this first, and calls `deliverSignals` once the
 * handlers of SIGINT and SIGTERM are installed: until then, signals wait instead of ending the process.
 *
 * A process also stops when the one that started it ends, even if that one is killed: an orphan would keep port and
 * ledger. A parent of Larder has an IPC channel, which closes. npm has none, and signals only its shell, which does not pass
 * them on: so under npm and npx the process polls whether it still has the same parent.
 *
 * SIGHUP stops a process on a terminal. Without one (nohup, setsid, a CI runner) the process ignores it.
 */
import { spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { isatty } from "node:tty"

const stopSignals = ["SIGINT", "SIGTERM"]
const parentPollMs = 500

/** The first signal that waits. */
let held
const hold = (signal) => {
  held ??= signal
}
for (const signal of stopSignals) process.on(signal, hold)

export const deliverSignals = () => {
  for (const signal of stopSignals) process.off(signal, hold)
  if (held !== undefined) process.emit(held, held)
}

/** The parent, and the parent of a shell: npm starts one, which survives if npm is killed. Without /proc, only the parent. */
const findStarter = () => {
  try {
    const [, name = "", parent] =
      /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${process.ppid}/stat`, "utf8")) ?? []
    return /^(ba|da|a|z)?sh$/.test(name) ? `${process.ppid} ${parent}` : `${process.ppid}`
  } catch {
    return `${process.ppid}`
  }
}

/** Unlike `process.kill`, this runs the handlers on Windows too. */
const stop = () => process.emit("SIGTERM", "SIGTERM")

if (process.connected) {
  process.once("disconnect", stop)
  process.channel?.unref()
} else if (process.env.npm_command !== undefined) {
  const starter = findStarter()
  const poll = setInterval(() => {
    if (findStarter() === starter) return
    clearInterval(poll)
    stop()
  }, parentPollMs).unref()
  // npm may end while the process stops; this must not count as the second signal, which cuts off calls in flight
  for (const signal of stopSignals) process.once(signal, () => clearInterval(poll))
}

/** Asked at the start: when SIGHUP arrives, the terminal is gone. After setsid, /dev/tty cannot be opened. */
const findTerminal = () => {
  try {
    if (process.platform !== "win32") closeSync(openSync("/dev/tty", "r"))
    return [0, 1, 2].some((descriptor) => isatty(descriptor))
  } catch {
    return false
  }
}
const hasTerminal = findTerminal()
process.on("SIGHUP", () => {
  if (hasTerminal) stop()
})

/**
 * Starts a program that stops with this process, and gets each signal that this process gets. A Ctrl-C, which a terminal
 * sends to both, arrives there twice.
 *
 * @param {string} node
 * @param {ReadonlyArray<string>} args
 * @param {"inherit" | number} stdout where the program's stdout goes
 */
export const startChild = (node, args, stdout = "inherit") => {
  const child = spawn(node, args, { stdio: ["inherit", stdout, "inherit", "ipc"] })
  const pass = (signal) => child.kill(signal)
  for (const signal of stopSignals) process.on(signal, pass)
  child.once("exit", () => {
    for (const signal of stopSignals) process.off(signal, pass)
  })
  return child
}
