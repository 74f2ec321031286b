/** Sizes of files in a warehouse. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import type { Manifest } from "@larder/warehouse"

/** The live database of a data set. */
export const databaseFile = (home: string, pipeline: string) => path.join(home, "warehouse", `${pipeline}.duckdb`)

/** When the newest generation of a depot was published, in milliseconds. */
export const readPublishedAt = (depot: string) => {
  const folder = path.join(depot, "generations")
  const manifests = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name))
  return statSync(path.join(folder, manifests.sort().at(-1) ?? "")).mtimeMs
}

/** The sidecar files of the live foods. */
export const sidecarParts = (home: string) => {
  const folder = path.join(home, "warehouse", "generations")
  const newest = readdirSync(folder).sort().at(-1) ?? ""
  const { data_sets }: Manifest = JSON.parse(readFileSync(path.join(folder, newest), "utf8"))
  return data_sets["branded-foods"]?.parts.slice(1) ?? []
}

export const measureBytes = (file: string): number => {
  const stats = statSync(file)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(file).reduce((sum, name) => sum + measureBytes(path.join(file, name)), 0)
}

export const toMegabytes = (bytes: number) => Number((bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0))

const describePart = (file: string) => {
  if (file.startsWith("records.")) return "records"
  if (/^(labels|manifest)\./.test(file)) return "search: barcodes, categories"
  return `search: ${file.replace(/\.\w+$/, "")}`
}

/** Sizes of the live foods: the database, the records, and the search by column. */
export const measureSizes = (home: string) => {
  const sizes: Record<string, number> = { database: statSync(databaseFile(home, "branded-foods")).size }
  for (const { bytes, name } of sidecarParts(home).toSorted((a, b) => a.name.localeCompare(b.name))) {
    const part = describePart(name)
    sizes[part] = (sizes[part] ?? 0) + bytes
  }
  return Object.fromEntries(Object.entries(sizes).map(([part, bytes]) => [`${part}, MB`, toMegabytes(bytes)]))
}
