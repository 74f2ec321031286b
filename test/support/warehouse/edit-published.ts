/** Edits live data, for states that no payload can produce. */
import { createHash } from "node:crypto"
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Manifest } from "@larder/warehouse"
import { objectName } from "@larder/warehouse/depot/depot.ts"
import { readStamp } from "@larder/warehouse/generation/markers.ts"
import { Effect } from "effect"
import { changeDatabase } from "./example-data-set.ts"

/** Changes a database of the newest generation, as if a run had published the result: the manifest names the new file. */
export const editLiveData = async (home: string, pipeline: string, sql: string): Promise<void> => {
  const warehouse = path.join(home, "warehouse")
  const folder = path.join(warehouse, "generations")
  const manifestFile = path.join(folder, readdirSync(folder).sort().at(-1) ?? "")
  const manifest: Manifest = JSON.parse(readFileSync(manifestFile, "utf8"))
  const entry = manifest.data_sets[pipeline]
  const [database, ...sidecars] = entry?.parts ?? []
  if (entry === undefined || database === undefined) throw new Error(`${home} has no ${pipeline}`)
  const edited = path.join(home, "edited.duckdb")
  copyFileSync(path.join(warehouse, objectName(database.sha256)), edited)
  await Effect.runPromise(Effect.provide(changeDatabase(edited, sql), NodeServices.layer))
  const bytes = readFileSync(edited)
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  const object = path.join(warehouse, objectName(sha256))
  mkdirSync(path.dirname(object), { recursive: true })
  renameSync(edited, object)
  chmodSync(object, 0o444)
  const part = { name: database.name, sha256, bytes: bytes.length }
  const data_sets = { ...manifest.data_sets, [pipeline]: { ...entry, parts: [part, ...sidecars] } }
  for (const file of [manifestFile, path.join(warehouse, objectName(database.sha256))]) rmSync(file)
  rmSync(path.join(warehouse, "seen", database.sha256), { force: true })
  writeFileSync(manifestFile, JSON.stringify({ ...manifest, data_sets }), { mode: 0o444 })
}

/** Changes `ingestion.duckdb`, as if its parts had these records. */
export const editRunRecords = async (home: string, sql: string): Promise<void> => {
  const file = path.join(home, "warehouse/ingestion.duckdb")
  const marker = path.join(home, "warehouse/seen/ingestion.duckdb")
  const facts: Readonly<Record<string, string>> = JSON.parse(readFileSync(marker, "utf8"))
  await Effect.runPromise(Effect.provide(changeDatabase(file, sql), NodeServices.layer))
  writeFileSync(marker, JSON.stringify({ ...facts, stamp: await readStamp(file) }))
}
