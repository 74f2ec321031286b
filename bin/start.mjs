/**
 * `npm start`: ingests once if there is no warehouse yet, then serves it. `npm run dev` (`--watch`): the same with restarts.
 * The two programs know nothing of each other; only this file starts both.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const warehouse = path.join(process.env.LARDER_HOME ?? "data", "warehouse")
/** Whether any data set is there, or a warehouse that the server has to speak of. */
const hasData = () =>
  existsSync(warehouse) && readdirSync(warehouse).some((name) => /^(?!(ingestion|larder)\.).*\.duckdb$/.test(name))
if (!hasData()) {
  const ingest = fileURLToPath(new URL("../pipelines/bin/larder-ingest.mjs", import.meta.url))
  const { status } = spawnSync(process.execPath, [ingest, "--if-missing"], { stdio: "inherit" })
  // The run has reported what could not be fetched; the rest is served all the same.
  if (status !== 0 && !hasData()) process.exit(status ?? 130)
}
// npm sends a signal to its shell only, which does not pass it on: the server stops when the process that started it ends.
const starter = process.ppid
setInterval(() => {
  if (process.ppid !== starter) process.kill(process.pid, "SIGTERM")
}, 500).unref()
if (process.argv[2] === "--watch") await import("./watch.mjs")
else {
  process.argv.push("start", "--demo")
  await import("../serve/bin/larder-serve.mjs")
}
