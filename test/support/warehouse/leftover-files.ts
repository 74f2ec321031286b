/** What lies in a home and belongs to no generation that is kept: what runs make on their way, and killed ones leave. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { dataSets, type Manifest, objectName } from "@larder/warehouse"

const opened = [...dataSets.map(({ about }) => about.pipeline), "ingestion", "larder"].map((name) => `${name}.duckdb`)
const locks = [...dataSets.map(({ about }) => about.pipeline), "beside", "opened"].map((name) => `.${name}.lock`)
const spare = ".ingestion.duckdb.next"

const filesBelow = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    : []

const manifestsIn = (warehouse: string): ReadonlyArray<Manifest> =>
  filesBelow(warehouse)
    .filter((name) => /^generations\/\d{9}\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(path.join(warehouse, name), "utf8")))

/** Files of the warehouse that are not needed, and folders in the home in which data sets are rebuilt. */
export const listLeftoverFiles = (home: string): ReadonlyArray<string> => {
  const warehouse = path.join(home, "warehouse")
  const manifests = manifestsIn(warehouse)
  const parts = manifests.flatMap(({ data_sets }) => Object.values(data_sets).flatMap((entry) => entry.parts))
  const named = [...parts, ...manifests.flatMap(({ ingest }) => ingest.parts)].map(({ sha256 }) => sha256)
  const needed = new Set([
    ...opened,
    ...locks,
    spare,
    ...manifests.map(({ number }) => `generations/${String(number).padStart(9, "0")}.json`),
    ...named.flatMap((sha256) => [objectName(sha256), `seen/${sha256}`]),
    ...[...opened, spare].map((name) => `seen/${name}`)
  ])
  const besideOfNamed = (name: string) =>
    named.some((sha256) => name.startsWith(`beside/${sha256}/`) || name === `beside/${sha256}.made`)
  return [
    ...filesBelow(warehouse).filter((name) => !needed.has(name) && !besideOfNamed(name)),
    ...(existsSync(home) ? readdirSync(home).filter((name) => name.startsWith("rebuilding-")) : [])
  ]
}
