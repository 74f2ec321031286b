/** Collects the rows of a file into batches of up to 500. */
import { type Batch, emptyBatch, type FeedImage, type FeedProduct, type FeedVariant } from "../feed.ts"
import { maxPayloadCharacters, UnusableRow } from "../page.ts"
import type { FeedStats } from "../typed-fields.ts"

const maxBatchRows = 500
/** A single row may have a million characters. */
const maxBatchCharacters = 4_000_000
/** Google allows ids of 50 characters, Shopify handles of 255. An id is never cut: it would become another id. */
const maxIdLength = 1000
/** A handle and the values of three options, in which some characters are escaped. */
const maxVariantIdLength = 4000

export interface FileRow {
  readonly native_id: string
  readonly product: FeedProduct | undefined
  readonly variant: FeedVariant | undefined
  readonly images: ReadonlyArray<FeedImage>
}

const rejectLongIds = ({ native_id, variant }: FileRow) => {
  if (native_id.length > maxIdLength) {
    throw new UnusableRow(`its id is longer than ${maxIdLength} characters`, native_id)
  }
  if (variant !== undefined && variant.native_id.length > maxVariantIdLength) {
    throw new UnusableRow(`its options are longer than ${maxVariantIdLength} characters`, native_id)
  }
}

export class BatchBuilder {
  #open = emptyBatch()
  #characters = 0
  readonly #stats: FeedStats

  constructor(stats: FeedStats) {
    this.#stats = stats
  }

  /** Reads one row. If that fails with `UnusableRow`, the row becomes a reject and adds nothing else. */
  addRow(position: number, raw: string, read: () => FileRow) {
    this.#characters += raw.length
    try {
      const row = read()
      rejectLongIds(row)
      this.#add(row)
      this.#stats.recordUsed()
    } catch (cause) {
      if (!(cause instanceof UnusableRow)) throw cause
      if (cause.native_id !== undefined) {
        this.#open.rejected ??= []
        this.#open.rejected.push(cause.native_id)
      }
      this.#stats.recordReject(cause.message)
      this.#open.rejects.push({ position, reason: cause.message, payload: raw.slice(0, maxPayloadCharacters) })
    }
  }

  #add({ native_id, product, variant, images }: FileRow) {
    this.#open.rows.push(native_id)
    if (product !== undefined) this.#open.products.push(product)
    if (variant !== undefined) this.#open.variants.push(variant)
    for (const image of images) this.#open.images.push(image)
  }

  get rowCount() {
    return this.#open.rows.length + this.#open.rejects.length
  }
  get isFull() {
    return this.rowCount >= maxBatchRows || this.#characters >= maxBatchCharacters
  }

  takeBatch(): Batch {
    const batch = this.#open
    this.#open = emptyBatch()
    this.#characters = 0
    return batch
  }
}

/**
 * Yields the batches that `read` fills. `read` yields whenever `isFull`, and continues only after the batch was
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
