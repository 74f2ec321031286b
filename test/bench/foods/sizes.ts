/** What a warehouse takes on the disk. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import type { Manifest } from "@larder/warehouse"

/** The live database of a data set. */
export const databaseOf = (home: string, pipeline: string) => path.join(home, "warehouse", `${pipeline}.duckdb`)

/** When the newest generation of a depot was published, in milliseconds. */
export const publishedAt = (depot: string) => {
  const folder = path.join(depot, "generations")
  const numbered = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name))
  return statSync(path.join(folder, numbered.sort().at(-1) ?? "")).mtimeMs
}

/** The files beside the live foods, as they were published. */
export const partsBeside = (home: string) => {
  const folder = path.join(home, "warehouse", "generations")
  const newest = readdirSync(folder).sort().at(-1) ?? ""
  const { data_sets }: Manifest = JSON.parse(readFileSync(path.join(folder, newest), "utf8"))
  return data_sets["branded-foods"]?.parts.slice(1) ?? []
}

export const bytesOf = (file: string): number => {
  const found = statSync(file)
  if (!found.isDirectory()) return found.size
  return readdirSync(file).reduce((sum, name) => sum + bytesOf(path.join(file, name)), 0)
}

export const megabytes = (bytes: number) => Number((bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0))

const partOf = (file: string) => {
  if (file.startsWith("records.")) return "records"
  if (/^(labels|manifest)\./.test(file)) return "search: barcodes, categories"
  return `search: ${file.replace(/\.\w+$/, "")}`
}

/** Of the live foods: the database, the records, and the search by column. */
export const sizesOf = (home: string) => {
  const sizes: Record<string, number> = { database: statSync(databaseOf(home, "branded-foods")).size }
  for (const { bytes, name } of partsBeside(home).toSorted((a, b) => a.name.localeCompare(b.name))) {
    const part = partOf(name)
    sizes[part] = (sizes[part] ?? 0) + bytes
  }
  return Object.fromEntries(Object.entries(sizes).map(([part, bytes]) => [`${part}, MB`, megabytes(bytes)]))
}
