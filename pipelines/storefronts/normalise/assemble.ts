/**
 * Assembles the staged feed rows into the products and collections of the staging file. First, duplicate rows, rows
 * without a product, and rows of unpublished products are separated. Then the other products are divided, in the order in
 * which they arrived, into parts that are assembled one at a time and that easily fit into DuckDB's memory. Parts are
 * measured in bytes, because the size of products varies widely. The rows of a product are mostly adjacent, so a part
 * reads little more than its own rows.
 */
import { readFileSync } from "node:fs"
import { createPossiblyIncompleteTable, type DuckDb, literal, possiblyIncompleteTable, sawAll } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { categorizeProducts, type Surveys } from "./categorise.ts"

const readSql = (name: string) => readFileSync(new URL(`./${name}.sql`, import.meta.url), "utf8")
const separateRowsSql = readSql("separate-rows")
const products = readSql("products")
const collections = readSql("collections")

/** Bytes of a part. DuckDB needs about four times as much memory while it builds lists from its rows. */
const maxPartBytes = 64 << 20

/** Bytes of a row in addition to its strings: ids, numbers, and its entry in a list. */
const rowBytes = 400
const sumBytes = (...texts: ReadonlyArray<string>) =>
  [String(rowBytes), ...texts.map((text) => `coalesce(strlen(${text}), 0)`)].join(" + ")

const productBytes = sumBytes("title", "handle", "vendor", "product_type", "body_text", "array_to_string(tags, ' ')")
const variantBytes = sumBytes("native_id", "title", "sku", "barcode", "option1", "option2", "option3", "image_src")

/** One row per published product: the `seq` of its first row, its part, and the range that contains all its rows. */
const createPartsSql = (maxBytes: number) => `
  create table feed.part as
  with size as (
    select domain, native_id, sum(bytes) as bytes, min(seq) as first, max(seq) as last
    from (
      select domain, native_id, seq, ${productBytes} as bytes from feed.product semi join feed.first_product using (seq)
      union all
      select domain, product_native_id, seq, ${variantBytes} from feed.variant
      union all
      select domain, product_native_id, seq, ${sumBytes("src")} from feed.image
    )
    group by domain, native_id
  )
  select domain, native_id, p.seq, bytes, first, last,
    ((sum(bytes) over (order by p.seq) - bytes) // ${maxBytes})::integer as part
  from feed.first_product p join size using (domain, native_id)
  where is_published`

const ProductPart = Schema.Struct({ part: Schema.Int, first: Schema.Int, last: Schema.Int })
type ProductPart = typeof ProductPart.Type

const parts = `
  select part, min(first)::double as first, max(last)::double as last from feed.part group by part order by part`

/** Fills `feed.part`, and returns the parts in the order in which they are assembled. */
const divideIntoParts = Effect.fnUntraced(function* (db: DuckDb["Service"], maxBytes = maxPartBytes) {
  yield* db.run(createPartsSql(maxBytes))
  return yield* db.all(ProductPart, parts)
})

const assemblePartSql = ({ first, last, part }: ProductPart) =>
  `set variable part = ${part}; set variable first = ${first}; set variable last = ${last}; ${products}`

/**
 * Products with rows that may be missing: a row could not be used or exceeds a limit, or a file was not read to its end.
 * The rows of a product may be anywhere in a file. The warehouse accepts such a product only if it has all its
 * variants.
 */
const possiblyIncompleteProducts = `
  ${createPossiblyIncompleteTable};
  insert into ${possiblyIncompleteTable}
  select id_of('product', domain, native_id) from feed.rejected where kind = 'product' and native_id is not null
  union
  select product_id
  from storefront.product
  join storefront.store using (store_id)
  join feed.store using (domain)
  join ingest.store_read using (store_id)
  where is_file and not (${sawAll})`

const Counts = Schema.Struct({ rows_rejected: Schema.Int, rows_skipped: Schema.Int })
const counts = `
  with stated as (
    select b.domain, b.product_native_id, rows, is_published, is_file
    from feed.row_count b
    join feed.store using (domain)
    join feed.first_product p on p.domain = b.domain and p.native_id = b.product_native_id
  )
  select (
    (select count(*) from feed.duplicate_variant)
    + (select count(*) from feed.excess_row)
    + (select coalesce(sum(rows), 0) from feed.orphan)
  )::integer as rows_rejected, (
    (select coalesce(sum(rows), 0) from stated where not is_published)
    + (select coalesce(sum(rows) - count(distinct (domain, product_native_id)), 0) from stated where is_published and not is_file)
    + (select count(*) from feed.collection anti join feed.first_collection using (domain, native_id, seq))
  )::integer as rows_skipped`

/** Call it before `assembleProducts`, after `feed.store` has all stores. */
export const separateRows = (db: DuckDb["Service"], run_id: string) =>
  db.run(`set variable run_id = ${literal(run_id)}; ${separateRowsSql}`)

/**
 * Fills `storefront.product` and `storefront.collection`, from parts of `maxBytes` each. Returns the
 * number of rejected rows, and the number of rows that add nothing.
 */
export const assembleProducts = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  folder: string,
  surveys: Surveys,
  maxBytes?: number
) {
  yield* categorizeProducts(db, folder, surveys)
  const parts = yield* divideIntoParts(db, maxBytes)
  // one transaction: full row groups are written directly to the file, not first to the write-ahead log
  yield* db.run(["begin", ...parts.map(assemblePartSql), "commit"].join(";\n"))
  yield* db.run(`${collections} ${possiblyIncompleteProducts}`)
  const [counted] = yield* db.all(Counts, counts)
  return counted ?? { rows_rejected: 0, rows_skipped: 0 }
})
