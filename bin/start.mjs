/**
 * `npm start`: ingests once if there is no warehouse yet, then serves it. `npm run dev` (`--watch`): the same with restarts.
 * The two programs are independent; only this file starts both.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const warehouse = path.join(process.env.LARDER_HOME ?? "data", "warehouse")
/** True if any data set has a file, even an unusable one, which the server reports. */
const hasData = () =>
  existsSync(warehouse) && readdirSync(warehouse).some((name) => /^(?!(ingestion|larder)\.).*\.duckdb$/.test(name))
if (!hasData()) {
  const ingest = fileURLToPath(new URL("../pipelines/bin/larder-ingest.mjs", import.meta.url))
  const { status } = spawnSync(process.execPath, [ingest, "--if-missing"], { stdio: "inherit" })
  // The run has reported what it could not read; the server serves the rest.
  if (status !== 0 && !hasData()) process.exit(status ?? 130)
}
// npm sends signals only to its shell, which does not pass them on: the server stops when its parent process ends.
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGTERM")
}, 500).unref()
if (process.argv[2] === "--watch") await import("./watch.mjs")
else {
  process.argv.push("start", "--demo")
  await import("../serve/bin/larder-serve.mjs")
}
