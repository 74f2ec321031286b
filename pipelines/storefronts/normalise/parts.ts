/**
 * Divides the products, in the order in which they arrived, into parts that are assembled one at a time and that DuckDB
 * holds easily. A part is measured in bytes, since a product may be one line or a whole book. The rows of a product are
 * mostly adjacent, so a part reads little more than its own rows.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"

/** Bytes of a part. DuckDB needs about four times as much memory while it builds lists from its rows. */
const mostBytes = 64 << 20

/** What a row takes in addition to its texts: ids, numbers, and its entry in a list. */
const bytesOfRow = 400
const bytesOf = (...texts: ReadonlyArray<string>) =>
  [String(bytesOfRow), ...texts.map((text) => `coalesce(strlen(${text}), 0)`)].join(" + ")

const ofProduct = bytesOf("title", "handle", "vendor", "product_type", "body_text", "array_to_string(tags, ' ')")
const ofVariant = bytesOf("native_id", "title", "sku", "barcode", "option1", "option2", "option3", "image_src")

/** One row per published product: the `seq` of its first row, its part, and the range that contains all its rows. */
const divide = (most: number) => `
  create table feed.part as
  with size as (
    select domain, native_id, sum(bytes) as bytes, min(seq) as first, max(seq) as last
    from (
      select domain, native_id, seq, ${ofProduct} as bytes from feed.product semi join feed.first_product using (seq)
      union all
      select domain, product_native_id, seq, ${ofVariant} from feed.variant
      union all
      select domain, product_native_id, seq, ${bytesOf("src")} from feed.image
    )
    group by domain, native_id
  )
  select domain, native_id, p.seq, bytes, first, last,
    ((sum(bytes) over (order by p.seq) - bytes) // ${most})::integer as part
  from feed.first_product p join size using (domain, native_id)
  where is_published`

const Part = Schema.Struct({ part: Schema.Int, first: Schema.Int, last: Schema.Int })
export type Part = typeof Part.Type

const parts = `
  select part, min(first)::double as first, max(last)::double as last from feed.part group by part order by part`

/** Fills `feed.part`, and returns the parts in the order in which they are assembled. */
export const divideIntoParts = Effect.fnUntraced(function* (db: DuckDb["Service"], most = mostBytes) {
  yield* db.run(divide(most))
  return yield* db.all(Part, parts)
})
