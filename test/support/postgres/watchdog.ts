/**
 * Ends a PostgreSQL server and removes its folder when the process that started it closes the pipe, deliberately or because
 * it has ended in any way. It has its own session, which Ctrl-C does not reach. Each line from the pipe is the id of the
 * process to end, initdb or a postmaster, or 0 when that has ended.
 */
import { rmSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { crash, isRunning, signal } from "./crash.ts"

const [home] = process.argv.slice(2)
if (home === undefined) throw new Error("the folder of the server is missing")

let pid = 0
for await (const line of createInterface({ input: process.stdin })) pid = Number(line)

/** SIGQUIT ends a server within milliseconds, and the server then releases its shared memory, of which systems have few segments. */
const end = async () => {
  if (process.platform === "win32") return crash(pid)
  signal(pid, "SIGQUIT")
  for (let waited = 0; waited < 10_000; waited += 20) {
    if (!isRunning(pid)) return
    await sleep(20)
  }
  await crash(pid)
}

if (pid !== 0) await end()
rmSync(home, { recursive: true, force: true, maxRetries: 10 })
