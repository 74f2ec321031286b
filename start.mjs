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
process.argv.push("start", "--demo")
await import("./serve/bin/larder-serve.mjs")
