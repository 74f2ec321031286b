/** Generations of a home, read and made without the programs. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"

const folderIn = (home: string) => path.join(home, "warehouse/generations")
const idOf = (number: number) => `larder-${String(number).padStart(6, "0")}`

interface Manifest {
  number: number
  replaces: number | null
  readonly data_sets: Readonly<Record<string, { readonly parts: ReadonlyArray<object> }>>
}

const newestManifest = (home: string): Manifest => {
  const name = readdirSync(folderIn(home))
    .filter((file) => file.endsWith(".json"))
    .sort()
    .at(-1)
  return JSON.parse(readFileSync(path.join(folderIn(home), name ?? ""), "utf8"))
}

/** Also where the run that made it changed no data. */
export const readNewestGeneration = (home: string) => idOf(newestManifest(home).number)

/** One more generation, as another run might have made it. Answers with its id. */
export const makeGeneration = (home: string, change: (manifest: Manifest) => void) => {
  const manifest = newestManifest(home)
  manifest.replaces = manifest.number
  manifest.number++
  change(manifest)
  const name = `${String(manifest.number).padStart(9, "0")}.json`
  writeFileSync(path.join(folderIn(home), name), JSON.stringify(manifest))
  return idOf(manifest.number)
}
