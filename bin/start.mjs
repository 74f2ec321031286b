/**
 * `npm start`: ingests once if there is no warehouse yet, then serves it, with the flags after `--`. `npm run dev`
 * (`--watch`): the same with restarts. The two programs are independent; only this file starts both.
 */
import "../warehouse/bin/node-messages.mjs"
import { once } from "node:events"
import { existsSync, readdirSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { startChild } from "../warehouse/bin/signals.mjs"

const interrupted = 130
const warehouse = path.join(process.env.LARDER_HOME || "data", "warehouse")
/** True if any data set has a file, even an unusable one, which the server reports. */
const hasData = () =>
  existsSync(warehouse) && readdirSync(warehouse).some((name) => /^(?!(ingestion|larder)\.).*\.duckdb$/.test(name))
if (!hasData()) {
  const ingest = fileURLToPath(new URL("../pipelines/bin/larder-ingest.mjs", import.meta.url))
  // with --json, stdout is for what the server prints; the runs are in the warehouse, and their problems on stderr
  const stdout = process.argv.includes("--json") ? "ignore" : "inherit"
  const [code] = await once(startChild(process.execPath, [ingest, "--if-missing"], stdout), "exit")
  // The run has reported what it could not read; the server serves the rest, unless the run was interrupted.
  if (code === interrupted || (code !== 0 && !hasData())) process.exit(code ?? interrupted)
}
if (process.argv[2] === "--watch") await import("./watch.mjs")
else {
  process.argv.splice(2, 0, "start", "--demo")
  await import("../serve/bin/larder-serve.mjs")
}
