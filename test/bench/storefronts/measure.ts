/**
 * How fast stores become staged rows, and whether that needs more memory for more of them: pages of many shops, and one file
 * of one shop. From recordings on the disk, each time into an empty home; what is loaded is counted and compared.
 */
import { rmSync } from "node:fs"
import { cpus } from "node:os"
import path from "node:path"
import { bytesOf, megabytes } from "../foods/sizes.ts"
import { rounded } from "../statistics.ts"
import { inTemporaryFolder } from "../temporary-folder.ts"
import { holdsAll } from "./loaded.ts"
import { type Kind, kinds, record } from "./recordings.ts"
import { ingestWatched, type Watched } from "./watched.ts"

/** A small load is measured three times, a large one is long enough. */
const roundsOf = (products: number) => (products < 100_000 ? 3 : 1)

const measureOne = async (folder: string, kind: Kind, products: number) => {
  const recordings = path.join(folder, "recordings")
  const home = path.join(folder, "home")
  try {
    const { stores, written } = await record({ folder: recordings, kind, products })
    const rounds: Array<Watched> = []
    for (let round = 0; round < roundsOf(products); round++) {
      rmSync(home, { recursive: true, force: true })
      rounds.push(await ingestWatched(home, recordings))
      await holdsAll(home, written)
    }
    const sorted = rounds.toSorted((a, b) => a.staged.cpu_seconds - b.staged.cpu_seconds)
    const middle = sorted[Math.floor(sorted.length / 2)]
    if (!middle) throw new Error("Nothing was measured")
    const { published, staged } = middle
    return {
      kind,
      products,
      stores,
      "recorded, MB": megabytes(bytesOf(recordings)),
      "staged, s": rounded(staged.seconds),
      "published, s": rounded(published.seconds),
      "products/s": Math.round(products / staged.seconds),
      "CPU, µs per product": rounded((staged.cpu_seconds * 1e6) / products),
      "products/s on one core": Math.round(products / staged.cpu_seconds),
      "peak memory, MB": Math.max(...rounds.map((round) => round.staged.peak_mb)),
      "peak to the end, MB": Math.max(...rounds.map((round) => round.published.peak_mb))
    }
  } finally {
    for (const left of [recordings, home]) rmSync(left, { recursive: true, force: true })
  }
}

type Row = Awaited<ReturnType<typeof measureOne>>

const grouped = (count: number) => count.toLocaleString("en-US")

/** What files cost stands in the first table. One core is what all threads together worked. */
const printBars = (rows: ReadonlyArray<Row>) => {
  const [smallest, largest] = [rows[0], rows.at(-1)]
  if (!smallest || !largest) return
  const ratio = largest["peak memory, MB"] / smallest["peak memory, MB"]
  console.table({
    "B6 products/s on one core (≥ 5000)": { measured: largest["products/s on one core"] },
    [`B6 peak memory at ${grouped(largest.products)} ÷ at ${grouped(smallest.products)} products (1: constant)`]: {
      measured: ratio.toFixed(2)
    }
  })
}

/** The bar is for pages: files are measured at the smaller sizes only, where there are several. */
const sizesOf = (kind: Kind, sizes: ReadonlyArray<number>) =>
  kind === "shopify" || sizes.length === 1 ? sizes : sizes.slice(0, -1)

/** Each size of each kind in turn. A million products take some 8 GB in the temporary folder. */
export const measureStorefronts = async (products: ReadonlyArray<number>) => {
  const sizes = products.toSorted((a, b) => a - b)
  await inTemporaryFolder("storefronts", async (folder) => {
    console.log(`\nStorefronts: ${cpus().length} cores, Node ${process.version}`)
    const rows: Array<Row> = []
    for (const kind of kinds) {
      for (const size of sizesOf(kind, sizes)) {
        const startedAt = performance.now()
        rows.push(await measureOne(folder, kind, size))
        console.log(`${kind}, ${grouped(size)} products: done in ${rounded((performance.now() - startedAt) / 1000)} s`)
      }
    }
    console.table(rows)
    printBars(rows.filter(({ kind }) => kind === "shopify"))
  })
}
