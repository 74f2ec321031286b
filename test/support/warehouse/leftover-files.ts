/** Files in a home that belong to no kept generation: temporary files of runs, which killed runs do not remove. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { dataSets, type Manifest } from "@larder/warehouse"
import { objectName } from "@larder/warehouse/depot/depot.ts"

const openedFiles = [...dataSets.map(({ about }) => about.pipeline), "ingestion", "larder"].map(
  (name) => `${name}.duckdb`
)
const locks = [...dataSets.map(({ about }) => about.pipeline), "beside", "opened"].map((name) => `.${name}.lock`)

const listFilesBelow = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    : []

const readManifests = (warehouse: string): ReadonlyArray<Manifest> =>
  listFilesBelow(warehouse)
    .filter((name) => /^generations\/\d{9}\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(path.join(warehouse, name), "utf8")))

/** Files of the warehouse that no generation needs, and folders of unfinished rebuilds. */
export const listLeftoverFiles = (home: string): ReadonlyArray<string> => {
  const warehouse = path.join(home, "warehouse")
  const manifests = readManifests(warehouse)
  const parts = manifests.flatMap(({ data_sets }) => Object.values(data_sets).flatMap((entry) => entry.parts))
  const hashes = [...parts, ...manifests.flatMap(({ ingest }) => ingest.parts)].map(({ sha256 }) => sha256)
  const needed = new Set([
    ...openedFiles,
    ...locks,
    ...manifests.map(({ number }) => `generations/${String(number).padStart(9, "0")}.json`),
    ...hashes.flatMap((sha256) => [objectName(sha256), `seen/${sha256}`, `seen/${sha256}.sidecars`]),
    ...openedFiles.map((name) => `seen/${name}`)
  ])
  const isSidecar = (name: string) => hashes.some((sha256) => name.startsWith(`beside/${sha256}/`))
  return [
    ...listFilesBelow(warehouse).filter((name) => !needed.has(name) && !isSidecar(name)),
    ...(existsSync(home) ? readdirSync(home).filter((name) => name.startsWith("rebuilding-")) : [])
  ]
}
