/** What a warehouse takes on the disk. */
import { readdirSync, realpathSync, statSync } from "node:fs"
import path from "node:path"
import { carriedFolder } from "@larder/warehouse/generation/carried.ts"

/** The database of the current generation. */
export const generationOf = (home: string) => realpathSync(path.join(home, "warehouse", "larder.duckdb"))

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

/** Of a generation: its database, its records, and its search by column. */
export const sizesOf = (home: string) => {
  const generation = generationOf(home)
  const folder = carriedFolder(generation, "foods")
  const sizes: Record<string, number> = { database: statSync(generation).size }
  for (const name of readdirSync(folder).toSorted()) {
    const part = partOf(name)
    sizes[part] = (sizes[part] ?? 0) + statSync(path.join(folder, name)).size
  }
  return Object.fromEntries(Object.entries(sizes).map(([part, bytes]) => [`${part}, MB`, megabytes(bytes)]))
}
