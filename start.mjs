/**
 * `npm start`: ingests once where there is no warehouse yet, then serves it. The two programs know nothing of each other;
 * only this file knows both.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const ingest = fileURLToPath(new URL("./pipelines/bin/larder-ingest.mjs", import.meta.url))
const { status } = spawnSync(process.execPath, [ingest, "--if-missing"], { stdio: "inherit" })
if (status !== 0) process.exit(status ?? 130)
process.argv.push("start", "--demo")
await import("./serve/bin/larder-serve.mjs")
