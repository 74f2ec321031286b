/**
 * Assembles the staged feed rows into the products and collections of the staging file. Duplicate rows, rows without a
 * product, and rows of unpublished products are separated and counted. The rest is assembled product by product.
 */
import { readFileSync } from "node:fs"
import { createHalfProductTable, type DuckDb, halfProductTable, literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { categorise, type Surveys } from "./categorise.ts"
import { divideIntoParts, type Part } from "./parts.ts"

const sqlOf = (name: string) => readFileSync(new URL(`./${name}.sql`, import.meta.url), "utf8")
const separateRows = sqlOf("separate-rows")
const products = sqlOf("products")
const collections = sqlOf("collections")

const productsOf = ({ first, last, part }: Part) =>
  `set variable part = ${part}; set variable first = ${first}; set variable last = ${last}; ${products}`

/**
 * Products of which some rows may be missing: some could not be used or exceed a limit, or the file was not read to its
 * end, where rows of one product may be anywhere. The warehouse accepts such a product only if it has all its variants.
 */
const halfProducts = `
  ${createHalfProductTable};
  insert into ${halfProductTable}
  select id_of('product', domain, native_id) from feed.rejected
  union
  select id_of('product', domain, product_native_id) from feed.excess_variant
  union
  select product_id
  from storefront.product
  join storefront.store using (store_id)
  join feed.store using (domain)
  join ingest.store_read using (store_id)
  where is_file and fetch_status = 'partial'`

const Counts = Schema.Struct({ rows_rejected: Schema.Int, rows_silent: Schema.Int })
const counts = `
  with stated as (
    select b.domain, b.product_native_id, rows, is_published, is_file
    from feed.behind b
    join feed.store using (domain)
    join feed.first_product p on p.domain = b.domain and p.native_id = b.product_native_id
  )
  select (
    (select count(*) from feed.variant_again)
    + (select count(*) from feed.excess_row)
    + (select coalesce(sum(rows), 0) from feed.orphan)
  )::integer as rows_rejected, (
    (select coalesce(sum(rows), 0) from stated where not is_published)
    + (select coalesce(sum(rows) - count(distinct (domain, product_native_id)), 0) from stated where is_published and not is_file)
    + (select count(*) from feed.collection anti join feed.first_collection using (domain, native_id, seq))
  )::integer as rows_silent`

/**
 * Fills `storefront.product` and `storefront.collection`, from at most `most` bytes of rows at a time. Returns the
 * number of rejected rows, and the number of rows that add nothing.
 */
export const assemble = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  run_id: string,
  folder: string,
  surveys: Surveys,
  most?: number
) {
  yield* db.run(`set variable run_id = ${literal(run_id)}; ${separateRows}`)
  yield* categorise(db, folder, surveys)
  const parts = yield* divideIntoParts(db, most)
  // one transaction: rows go to the file as soon as they fill a row group, not to the write-ahead log before that
  yield* db.run(["begin", ...parts.map(productsOf), "commit"].join(";\n"))
  yield* db.run(`${collections} ${halfProducts}`)
  const [counted] = yield* db.all(Counts, counts)
  return counted ?? { rows_rejected: 0, rows_silent: 0 }
})
