/** A warehouse with rows in every data set, for tests of the files that users open. */

import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { commodity, dataSets, type Layout, observationVersionTable, stage } from "@larder/warehouse"
import type { Parts } from "@larder/warehouse/opened/parts.ts"
import { Effect, FileSystem, Path } from "effect"
import { aLayout, aRun, publishStaged } from "./example-data-set.ts"
import { labelsWithoutFiles, publishLabels } from "./label-rows.ts"
import { publishReads, type StoreRead } from "./store-reads.ts"

const day = "2026-01-02"
const price = {
  observed_on: day,
  value_text: "1.50",
  published_at: `${day} 23:59:59.999999`, // as for rows that state no time
  revision_status: null,
  freight: null,
  raw_sha256: "ab",
  fetched_at: `${day} 12:00:00`,
  source_row: 1
}

/** Publishes one price of each metric. */
export const publishPrices = Effect.fnUntraced(function* (layout: Layout, ...metrics: ReadonlyArray<string>) {
  const run = aRun({ pipeline: "commodities", origin: "sample" })
  const { staged } = yield* stage(layout, run, commodity, (staging) =>
    staging.add(
      observationVersionTable,
      metrics.map((metric_name) => ({ ...price, metric_name, value: "1.5", run_id: run.run_id }))
    )
  )
  yield* publishStaged(layout, commodity, staged, run, commodities.mappingVersion) // programs add to it
}, Effect.scoped)

const images = [{ src: "https://shop.example/oat.jpg", width: 640, height: null }]
const picture = { image_src: "https://shop.example/all.jpg", image_width: 320, image_height: 200 }
const stores: StoreRead = {
  day: 2,
  store: "one",
  set: { domain: "shop.example", name: "Größe", url: "https://shop.example" },
  products: [{ id: "oat", set: { images } }, { id: "rye" }],
  collections: [{ id: "all", set: { product_ids: ["oat", "rye"], ...picture } }, { id: "none" }]
}

const nutrients =
  "[{nutrient_id: 1093, amount: 333.5, derivation_id: null}, {nutrient_id: 1004, amount: 0, derivation_id: 70}]"
const labels = [
  { fdc_id: 1, up_to: 3, set: { serving_size: "30", nutrients, category: "'Cheese'" } },
  { fdc_id: 4, set: { serving_size: "30", nutrients, label_sodium: "105", label_vitamin_d: "0.5" } },
  { fdc_id: 7, set: { gtin_14: "'00000000000001'", quality_flags: "['odd']" } }
]

/** Makes the warehouse. Its prices are bundled samples. */
export const makeEveryDataSet = Effect.gen(function* () {
  const layout = yield* aLayout
  yield* publishPrices(layout, "butter_exch_spot_close_daily", "milk_class_iii_price_monthly")
  yield* publishLabels(layout, labels, labelsWithoutFiles)
  yield* publishReads(layout, stores)
  const parts: Parts = {
    parts: dataSets.map((dataSet) => ({ dataSet, file: layout.dataSetFile(dataSet.about.pipeline) })),
    ingestion: layout.ingestion
  }
  return { layout, parts }
})

/** Copies the files into another folder. The copies are writable. */
export const copyParts = Effect.fnUntraced(function* ({ ingestion, parts }: Parts, folder: string) {
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(folder, { recursive: true })
  const copy = Effect.fnUntraced(function* (file: string) {
    const copied = path.join(folder, path.basename(file))
    yield* fs.copyFile(file, copied)
    yield* fs.chmod(copied, 0o644)
    return copied
  })
  const copies: Parts = {
    parts: yield* Effect.forEach(parts, ({ dataSet, file }) => Effect.map(copy(file), (file) => ({ dataSet, file }))),
    ingestion: yield* copy(ingestion)
  }
  return copies
})
