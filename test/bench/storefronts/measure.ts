/**
 * Measures how fast stores become staged rows, and whether memory grows with their number: pages of many stores, and one
 * file of one store. Each run reads recordings from the disk into an empty home, and its rows are counted and compared.
 * Against another checkout: the CPU of each product.
 */
import { rmSync } from "node:fs"
import { cpus } from "node:os"
import path from "node:path"
import { type Both, compareInTurns, mapBoth } from "../against.ts"
import { countRounds } from "../effort.ts"
import { measureBytes, toMegabytes } from "../foods/sizes.ts"
import { roundTo } from "../statistics.ts"
import { inTemporaryFolder } from "../temporary-folder.ts"
import { requireSameCounts } from "./loaded.ts"
import { type Kind, kinds, record, type WrittenRecordings } from "./recordings.ts"
import { measureRun, type RunCost } from "./run-cost.ts"

/** Small loads run three times. Large ones take long enough for one measurement. */
const chooseRounds = (products: number) => (products < 100_000 ? countRounds(3) : 1)

interface Recorded extends WrittenRecordings {
  readonly recordings: string
  /** One run into an empty home. */
  readonly measure: (checkout?: string) => Promise<RunCost>
}

const withRecordings = async <A>(
  folder: string,
  kind: Kind,
  products: number,
  use: (recorded: Recorded) => Promise<A>
): Promise<A> => {
  const recordings = path.join(folder, "recordings")
  const home = path.join(folder, "home")
  try {
    const recorded = await record({ folder: recordings, kind, products })
    const measure = async (checkout?: string) => {
      rmSync(home, { recursive: true, force: true })
      const cost = await measureRun(home, recordings, checkout)
      await requireSameCounts(home, recorded.written)
      return cost
    }
    return await use({ ...recorded, recordings, measure })
  } finally {
    for (const target of [recordings, home]) rmSync(target, { recursive: true, force: true })
  }
}

const measureKind = (folder: string, kind: Kind, products: number) =>
  withRecordings(folder, kind, products, async ({ measure, recordings, stores }) => {
    const rounds: Array<RunCost> = []
    for (let round = 0; round < chooseRounds(products); round++) rounds.push(await measure())
    const sorted = rounds.toSorted((a, b) => a.staged.cpu_seconds - b.staged.cpu_seconds)
    const middle = sorted[Math.floor(sorted.length / 2)]
    if (!middle) throw new Error("Nothing was measured")
    const { published, staged } = middle
    return {
      kind,
      products,
      stores,
      "recorded, MB": toMegabytes(measureBytes(recordings)),
      "staged, s": roundTo(staged.seconds),
      "published, s": roundTo(published.seconds),
      "products/s": Math.round(products / staged.seconds),
      "CPU, µs per product": roundTo((staged.cpu_seconds * 1e6) / products),
      "products/s on one core": Math.round(products / staged.cpu_seconds),
      "peak memory, MB": Math.max(...rounds.map((round) => round.staged.peak_mb)),
      "peak until the end, MB": Math.max(...rounds.map((round) => round.published.peak_mb))
    }
  })

type Row = Awaited<ReturnType<typeof measureKind>>

const formatCount = (count: number) => count.toLocaleString("en-US")

/** The bars of pages. `on one core`: divided by the CPU time of all threads. */
const printBars = (rows: ReadonlyArray<Row>) => {
  const [smallest, largest] = [rows[0], rows.at(-1)]
  if (!smallest || !largest) return
  const ratio = largest["peak memory, MB"] / smallest["peak memory, MB"]
  console.table({
    "B6 products/s on one core (≥ 5000)": { measured: largest["products/s on one core"] },
    [`B6 peak memory at ${formatCount(largest.products)} ÷ at ${formatCount(smallest.products)} products (1: constant)`]:
      {
        measured: ratio.toFixed(2)
      }
  })
}

/** The bars are for pages, so files are not measured at the largest of several sizes. */
const chooseSizes = (kind: Kind, sizes: ReadonlyArray<number>) =>
  kind === "shopify" || sizes.length === 1 ? sizes : sizes.slice(0, -1)

/** Measures each size of each kind. A million products take about 8 GB in the temporary folder. */
export const measureStorefronts = async (products: ReadonlyArray<number>) => {
  const sizes = products.toSorted((a, b) => a - b)
  await inTemporaryFolder("storefronts", async (folder) => {
    console.log(`\nStorefronts: ${cpus().length} cores, Node ${process.version}`)
    const rows: Array<Row> = []
    for (const kind of kinds) {
      for (const size of chooseSizes(kind, sizes)) {
        const startedAt = performance.now()
        rows.push(await measureKind(folder, kind, size))
        console.log(
          `${kind}, ${formatCount(size)} products: done in ${roundTo((performance.now() - startedAt) / 1000)} s`
        )
      }
    }
    console.table(rows)
    printBars(rows.filter(({ kind }) => kind === "shopify"))
  })
}

const compareKind = (folder: string, checkouts: Both<string>, kind: Kind, products: number) =>
  withRecordings(folder, kind, products, async ({ measure }) => {
    const runs = await mapBoth(checkouts, async (checkout) => async () => {
      const { published, staged } = await measure(checkout)
      return {
        "staged, s": staged.seconds,
        "staged, CPU µs per product": (staged.cpu_seconds * 1e6) / products,
        "published, s": published.seconds,
        "published, CPU s": published.cpu_seconds,
        "peak memory, MB": published.peak_mb
      }
    })
    await compareInTurns(`${kind}, ${formatCount(products)} products`, countRounds(5), runs)
  })

export const compareStorefronts = (checkouts: Both<string>, products: ReadonlyArray<number>) =>
  inTemporaryFolder("storefronts", async (folder) => {
    for (const kind of kinds) {
      for (const size of products) await compareKind(folder, checkouts, kind, size)
    }
  })
