/** Collects the rows of a file into batches of up to 500. */
import type { Batch, ImageRow, ProductRow, RejectRow, VariantRow } from "../feed.ts"
import { mostShown, Unusable } from "../page.ts"
import type { Judged } from "../stated.ts"

const rowsPerBatch = 500
/** Characters of the file in one batch: a single row may have a million. */
const charactersPerBatch = 4_000_000
/** Google allows ids of 50 characters, Shopify handles of 255. An id is never cut: it would become another id. */
const mostOfId = 1000
/** A handle and the values of three options, in which some characters are escaped. */
const mostOfVariantId = 4000

/** What one row of the file became. */
export interface RowFound {
  readonly native_id: string
  readonly product?: ProductRow
  readonly variant?: VariantRow
  readonly images: ReadonlyArray<ImageRow>
}

interface OpenBatch extends Batch {
  readonly rows: Array<string>
  readonly products: Array<ProductRow>
  readonly variants: Array<VariantRow>
  readonly images: Array<ImageRow>
  readonly rejects: Array<RejectRow>
  rejected?: Array<string>
}

const nothing = (): OpenBatch => ({
  rows: [],
  products: [],
  variants: [],
  images: [],
  collections: [],
  members: [],
  rejects: []
})

const refuseLongIds = ({ native_id, variant }: RowFound) => {
  const long = native_id.length > mostOfId
  if (!long && (variant?.native_id.length ?? 0) <= mostOfVariantId) return
  const what = long ? `its id is longer than ${mostOfId}` : `its options are longer than ${mostOfVariantId}`
  throw new Unusable(`${what} characters`, native_id)
}

export class Batching {
  #open = nothing()
  #characters = 0
  readonly #judged: Judged

  constructor(judged: Judged) {
    this.#judged = judged
  }

  /** Reads one row. If that fails with `Unusable`, the row becomes a reject and adds nothing else. */
  take(position: number, raw: string, read: () => RowFound) {
    this.#characters += raw.length
    try {
      const row = read()
      refuseLongIds(row)
      this.#add(row)
      this.#judged.use()
    } catch (cause) {
      if (!(cause instanceof Unusable)) throw cause
      if (cause.native_id !== undefined) {
        this.#open.rejected ??= []
        this.#open.rejected.push(cause.native_id)
      }
      this.#judged.reject(cause.message)
      this.#open.rejects.push({ position, reason: cause.message, payload: raw.slice(0, mostShown) })
    }
  }

  #add({ native_id, product, variant, images }: RowFound) {
    this.#open.rows.push(native_id)
    if (product !== undefined) this.#open.products.push(product)
    if (variant !== undefined) this.#open.variants.push(variant)
    for (const image of images) this.#open.images.push(image)
  }

  get #length() {
    return this.#open.rows.length + this.#open.rejects.length
  }
  get isEmpty() {
    return this.#length === 0
  }
  get isFull() {
    return this.#length >= rowsPerBatch || this.#characters >= charactersPerBatch
  }

  give(): Batch {
    const batch = this.#open
    this.#open = nothing()
    this.#characters = 0
    return batch
  }
}

/**
 * Yields the batches that `read` fills. `read` yields whenever `isFull`, and continues only after the batch was
 * consumed. Rows that were read before a failure are yielded before it is thrown.
 */
export async function* inBatches(
  judged: Judged,
  read: (batching: Batching) => AsyncIterable<void>
): AsyncGenerator<Batch> {
  const batching = new Batching(judged)
  try {
    for await (const _ of read(batching)) yield batching.give()
  } catch (cause) {
    if (!batching.isEmpty) yield batching.give()
    throw cause
  }
  if (!batching.isEmpty) yield batching.give()
}
