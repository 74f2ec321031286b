/**
 * Ends a PostgreSQL server and removes its folder when the process that started it closes the pipe: on purpose, or because
 * it ended, however it ended. A session of its own keeps Ctrl-C away from it. Over the pipe comes, line by line, which
 * process to end: initdb or a postmaster, and 0 when it ended.
 */
import { rmSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { crash, isRunning, signal } from "./crash.ts"

const [home] = process.argv.slice(2)
if (home === undefined) throw new Error("the folder of the server is missing")

let pid = 0
for await (const line of createInterface({ input: process.stdin })) pid = Number(line)

/** SIGQUIT ends a server within milliseconds, and lets it return its shared memory, of which a system has few pieces. */
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
