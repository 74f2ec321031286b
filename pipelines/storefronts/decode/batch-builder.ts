/**
 * Collects the rows of a payload into batches. A payload row is used as a whole or not at all, so each one is accounted
 * for once. A row that cannot be used becomes a reject and does not affect the others.
 */
import {
  type Batch,
  type FeedCollection,
  type FeedImage,
  type FeedProduct,
  type FeedReject,
  type FeedVariant,
  makeBatch
} from "./feed.ts"
import { UnusableRow } from "./feed-errors.ts"
import type { FeedStats } from "./feed-stats.ts"

const maxBatchRows = 500
/** A single row may have a million characters. */
const maxBatchCharacters = 4_000_000
/** Google allows ids of 50 characters, Shopify handles of 255. An id is never truncated: it would become another id. */
const maxIdLength = 1000
/** A handle and the values of three options, in which some characters are escaped. */
const maxVariantIdLength = 4000
/** Rejected rows are kept for inspection, up to this many characters. */
const maxPayloadCharacters = 10_000

/** The rows that a payload row is converted to: those of a product, or a collection. */
export interface ParsedRow {
  readonly product?: FeedProduct | undefined
  readonly variants?: ReadonlyArray<FeedVariant>
  readonly images?: ReadonlyArray<FeedImage>
  readonly collection?: FeedCollection
}

const rejectLongIds = (product_native_id: string, variants: ReadonlyArray<FeedVariant>) => {
  if (product_native_id.length > maxIdLength) {
    throw new UnusableRow(`its id is longer than ${maxIdLength} characters`)
  }
  if (variants.some(({ native_id }) => native_id.length > maxVariantIdLength)) {
    throw new UnusableRow(`its options are longer than ${maxVariantIdLength} characters`)
  }
}

export type Identify = (native_id: string | undefined) => void

export class BatchBuilder {
  #batch = makeBatch()
  #characters = 0
  readonly #stats: FeedStats
  readonly #kind: FeedReject["kind"]

  constructor(stats: FeedStats, kind: FeedReject["kind"] = "product") {
    this.#stats = stats
    this.#kind = kind
  }

  /**
   * Adds one payload row. `read` passes its native id to `identify` as soon as it is known, because a reject needs it,
   * too. It passes undefined if the id turns out to be uncertain. If `read` fails with `UnusableRow`, only the reject
   * is added. `raw` is a function if the row has to be serialized first.
   */
  addRow(position: number, raw: string | (() => string), read: (identify: Identify) => ParsedRow) {
    if (typeof raw === "string") this.#characters += raw.length
    let id: string | undefined
    try {
      const {
        collection,
        images = [],
        product,
        variants = []
      } = read((native_id) => {
        id = native_id
      })
      if (id !== undefined) rejectLongIds(id, variants)
      if (collection !== undefined) this.#batch.collections.push(collection)
      else if (id !== undefined) this.#batch.rows.push(id)
      if (product !== undefined) this.#batch.products.push(product)
      for (const variant of variants) this.#batch.variants.push(variant)
      for (const image of images) this.#batch.images.push(image)
      for (const oddValue of this.#stats.takeOddValues()) this.#batch.odd_values.push(oddValue)
      this.#stats.recordUsed()
    } catch (cause) {
      this.#stats.takeOddValues() // the reject has the whole row
      if (!(cause instanceof UnusableRow)) throw cause
      this.#stats.recordReject(cause.message)
      const payload = (typeof raw === "string" ? raw : raw()).slice(0, maxPayloadCharacters)
      const reject = { position, reason: cause.message, payload, kind: this.#kind, native_id: id ?? null }
      this.#batch.rejects.push(reject)
    }
  }

  get rowCount() {
    return this.#batch.rows.length + this.#batch.rejects.length
  }
  get isFull() {
    return this.rowCount >= maxBatchRows || this.#characters >= maxBatchCharacters
  }

  takeBatch(): Batch {
    const batch = this.#batch
    this.#batch = makeBatch()
    this.#characters = 0
    return batch
  }
}

/**
 * Yields the batches of a file that `read` fills. `read` yields whenever `isFull`, and continues only after the batch was
 * consumed. Rows that were read before a failure are yielded before it is thrown.
 */
export async function* collectBatches(
  stats: FeedStats,
  read: (builder: BatchBuilder) => AsyncIterable<void>
): AsyncGenerator<Batch> {
  const builder = new BatchBuilder(stats)
  try {
    for await (const _ of read(builder)) yield builder.takeBatch()
  } catch (cause) {
    if (builder.rowCount > 0) yield builder.takeBatch()
    throw cause
  }
  if (builder.rowCount > 0) yield builder.takeBatch()
}
