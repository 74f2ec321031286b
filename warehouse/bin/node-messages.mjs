/**
 * Where stderr is no terminal, what Node itself writes there is in the format of the log, too (`warehouse/cli/logs.ts`):
 * its warnings, and the error that ends a process. Import this first: loading a module may warn.
 */
import { isatty } from "node:tty"
import { isMainThread } from "node:worker_threads"

const write = (level, event, cause) =>
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), level, event, cause })}\n`)

/** An error of a program that does not run yet, and has no log. */
export const printError = (message) => (isatty(2) ? console.error(message) : write("ERROR", message))

if (!isatty(2)) {
  // Node has no listener if its warnings are switched off, and otherwise one that writes text
  if (process.listenerCount("warning") > 0) {
    process.removeAllListeners("warning")
    process.on("warning", ({ message, name }) => write("WARN", `${name}: ${message}`))
  }
  // an error in another thread is reported to the main thread
  if (isMainThread) {
    process.on("uncaughtException", (error) => {
      write("ERROR", "the process ends: an error was not handled", error instanceof Error ? error.stack : String(error))
      process.exit(1)
    })
  }
}
