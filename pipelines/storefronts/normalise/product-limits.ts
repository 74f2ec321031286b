/**
 * Products with more variants or pictures than any shop allows. A million rows of a file may name the same product, and
 * so may hundreds of pages. The first variants and pictures are kept. The others are removed before the products are
 * assembled, because a product becomes a single row.
 */
import { literal } from "@larder/warehouse/duckdb.ts"

/** Shopify allows this many variants of a product. */
const mostVariants = 2048
/** Shopify allows 250 pictures of a product. */
const mostPictures = 1000

const crowded = (table: string, most: number) =>
  `select domain, product_native_id from feed.${table} group by all having count(*) > ${most}`

/** Finds them in `feed.first_variant` and `feed.image`. Pictures are distinguished by their addresses. */
export const findExcess = `
  create table feed.excess_variant as
  select domain, product_native_id, seq from feed.first_variant
  semi join (${crowded("first_variant", mostVariants)}) using (domain, product_native_id)
  qualify row_number() over (partition by domain, product_native_id order by seq) > ${mostVariants};
  create table feed.excess_picture as
  select domain, product_native_id, src, min(seq) as seq
  from feed.image
  semi join (${crowded("image", mostPictures)}) using (domain, product_native_id)
  group by domain, product_native_id, src
  qualify row_number() over (partition by domain, product_native_id order by min(position), min(seq)) > ${mostPictures}`

interface Excess {
  readonly run_id: string
  readonly what: "variant" | "picture"
  readonly rows: "feed.variant" | "feed.image"
  readonly most: number
}

/** One reject per product, with the first row that is left out: a million rejects would tell no more. */
const reject = ({ most, rows, run_id, what }: Excess) => `
  insert into ingest.reject
  select 'storefronts', 'store/' || excess.domain, ${literal(run_id)}, product.raw_sha256, coalesce(left_out.position, 0),
    product.native_id || ' has more than ${most} ${what}s; left out: ' || excess.rows, to_json(left_out)::varchar
  from (
    select domain, product_native_id as native_id, min(seq) as seq, count(*) as rows from feed.excess_${what} group by all
  ) excess
  join feed.first_product stated using (domain, native_id)
  join feed.product product on product.seq = stated.seq
  join ${rows} left_out on left_out.seq = excess.seq
  where stated.is_published`

/** Rejects the excess variants and pictures, and removes them from `feed.first_variant` and `feed.image`. */
export const setExcessApart = (run_id: string) => `
  ${reject({ run_id, what: "variant", rows: "feed.variant", most: mostVariants })};
  ${reject({ run_id, what: "picture", rows: "feed.image", most: mostPictures })};
  delete from feed.first_variant where seq in (select seq from feed.excess_variant);
  delete from feed.image
  where (domain, product_native_id, src) in (select (domain, product_native_id, src) from feed.excess_picture)`

/**
 * File rows that are left out because of their variants. In pages a row is a whole product, and a row that only lost a
 * picture keeps the rest.
 */
export const excessRows = `
  from feed.excess_variant v
  join feed.store using (domain)
  semi join (select domain, native_id as product_native_id from feed.first_product where is_published)
    using (domain, product_native_id)
  where merges`
