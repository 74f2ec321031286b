/** Reads and makes generations of a home without the programs. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"

const generationsFolder = (home: string) => path.join(home, "warehouse/generations")
const toId = (number: number) => `larder-${String(number).padStart(6, "0")}`

interface Manifest {
  number: number
  replaces: number | null
  readonly data_sets: Readonly<Record<string, { readonly parts: ReadonlyArray<object> }>>
}

const readNewestManifest = (home: string): Manifest => {
  const name = readdirSync(generationsFolder(home))
    .filter((file) => file.endsWith(".json"))
    .sort()
    .at(-1)
  return JSON.parse(readFileSync(path.join(generationsFolder(home), name ?? ""), "utf8"))
}

/** The id of the newest generation, even if its run changed no data. */
export const readNewestGeneration = (home: string) => toId(readNewestManifest(home).number)

/** Makes another generation, as a run could have made it. Returns its id. */
export const makeGeneration = (home: string, change: (manifest: Manifest) => void) => {
  const manifest = readNewestManifest(home)
  manifest.replaces = manifest.number
  manifest.number++
  change(manifest)
  const name = `${String(manifest.number).padStart(9, "0")}.json`
  writeFileSync(path.join(generationsFolder(home), name), JSON.stringify(manifest))
  return toId(manifest.number)
}
