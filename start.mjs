/**
 * `npm start`: ingests once where there is no warehouse yet, then serves it. The two programs know nothing of each other;
 * only this file knows both.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const ingest = fileURLToPath(new URL("./pipelines/bin/larder-ingest.mjs", import.meta.url))
const { status } = spawnSync(process.execPath, [ingest, "--if-missing"], { stdio: "inherit" })
const warehouse = path.join(process.env.LARDER_HOME ?? "data", "warehouse", "larder.duckdb")
// Reports that could not be fetched are told above; what the others gave is served all the same.
if (status !== 0 && !existsSync(warehouse)) process.exit(status ?? 130)
// npm hands a signal to its shell, and the shell does not hand it on: the server ends with the one who started it.
const starter = process.ppid
setInterval(() => {
  if (process.ppid !== starter) process.kill(process.pid, "SIGTERM")
}, 500).unref()
process.argv.push("start", "--demo")
await import("./serve/bin/larder-serve.mjs")
