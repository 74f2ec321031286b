/**
 * Assembles the staged feed rows into the products and collections of the staging file. Duplicate rows, rows without a
 * product, and rows of unpublished products are separated and counted. The rest is assembled product by product.
 */
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { createHalfProductTable, halfProductTable } from "@larder/warehouse/storefronts/reconcile.ts"
import { Effect, Schema } from "effect"
import { categorise, type Surveys } from "./categorise.ts"
import { divideIntoParts, type Part } from "./parts.ts"
import { excessRows, findExcess, setExcessApart } from "./product-limits.ts"

type Db = DuckDb["Service"]

const Rows = Schema.Struct({ rows: Schema.Int })
const rowsOf = (db: Db, sql: string) =>
  Effect.map(db.all(Rows, `select coalesce(${sql}, 0)::integer as rows`), ([row]) => row?.rows ?? 0)

/**
 * Rows of an export with the same handle and options but different SKUs are separate variants. Each of them gets its
 * SKU appended to its id, so that ids do not depend on the order of the rows. No other id contains the escape sequence
 * `\\#`: see `shopify-csv.ts`.
 */
const tellApartBySku = `
  update feed.variant v
  set native_id = v.native_id || '\\#' || v.sku
  from (
    select domain, product_native_id, native_id
    from feed.variant join feed.store using (domain)
    where merges and sku is not null
    group by all having count(distinct sku) > 1
  ) shared
  where v.sku is not null and v.domain = shared.domain and v.product_native_id = shared.product_native_id
    and v.native_id = shared.native_id`

/** Of rows with the same id, the first one counts. */
const firsts = `
  create table feed.first_product as
  select domain, native_id, min(seq) as seq, arg_min(is_published, seq) as is_published
  from feed.product group by domain, native_id;
  create table feed.first_variant as
  select domain, product_native_id, native_id, min(seq) as seq from feed.variant group by all;
  create table feed.first_collection as
  select domain, native_id, min(seq) as seq from feed.collection group by all`

/**
 * Finds the duplicate variants of files. There every row describes one variant, so a row whose id repeats is rejected; a
 * shop's pages only overlap. Rows of unpublished products are left out as a whole and are not duplicates.
 */
const findAgain = `
  create table feed.variant_again as
  select v.domain, v.product_native_id, v.seq
  from feed.variant v
  join feed.store using (domain)
  semi join (select domain, native_id as product_native_id from feed.first_product where is_published)
    using (domain, product_native_id)
  anti join feed.first_variant f using (seq)
  anti join feed.excess_variant e using (seq)
  where merges`
const orphans =
  "from feed.behind b anti join feed.first_product p on p.domain = b.domain and p.native_id = b.product_native_id"

const rejects = (run_id: string) => {
  const row = (feed: string, sha256: string, position: string, reason: string, payload: string) => `
    insert into ingest.reject
    select 'storefronts', 'store/' || ${feed}, ${literal(run_id)}, ${sha256}, ${position}, ${reason}, ${payload}`
  const variant = row(
    "v.domain",
    "v.raw_sha256",
    "v.position",
    `'duplicate id ' || v.native_id || ': an earlier row has it'`,
    "to_json(v)::varchar"
  )
  const orphan = row(
    "o.domain",
    "any_value(o.raw_sha256)",
    "coalesce(min(v.position), 0)",
    "'no row says what ' || o.product_native_id || ' is called; rows: ' || any_value(o.rows)",
    `coalesce(
      to_json(any_value(v) filter (where v.native_id is not null)),
      json_object('product_native_id', o.product_native_id)
    )::varchar`
  )
  const cut = row(
    "domain",
    "arg_min(raw_sha256, seq)",
    "0",
    `count(*) || ' texts are longer than they may be, and were cut; the first: ' || arg_min(field, seq) || ' of '
      || arg_min(native_id, seq) || ', with ' || arg_min(characters, seq) || ' characters'`,
    "json_object(arg_min(field, seq), arg_min(beginning, seq))::varchar"
  )
  return [
    `${variant} from feed.variant v semi join feed.variant_again using (seq)`,
    `${orphan}
     from (
       select b.domain, b.product_native_id, sum(rows)::bigint as rows, any_value(raw_sha256) as raw_sha256
       ${orphans} group by all
     ) o
     left join feed.variant v on v.domain = o.domain and v.product_native_id = o.product_native_id
     group by o.domain, o.product_native_id`,
    `${cut} from feed.cut group by domain`
  ]
}

/** Number of payload rows per product of a file. In a shop's pages, a repeated entry is the same product. */
const countRows = `
  create table feed.source_rows as
  with refused as (
    select domain, product_native_id, count(*) as rows
    from (
      select domain, product_native_id from feed.variant_again
      union all
      select domain, product_native_id ${excessRows}
    )
    group by all
  )
  select domain, product_native_id as native_id, (sum(b.rows) - coalesce(any_value(refused.rows), 0))::integer as rows
  from feed.behind b join feed.store using (domain) left join refused using (domain, product_native_id)
  where merges group by all`

const products = (run_id: string, { first, last, part }: Part) => {
  const here = `seq between ${first} and ${last}`
  return `
  insert into storefront.product by name
  with part as (
    select domain, native_id, seq, coalesce(counted.rows, 1) as source_rows
    from feed.part left join feed.source_rows counted using (domain, native_id)
    where part = ${part}
  ),
  stated as (
    select * from feed.product join (select seq, source_rows from part) using (seq) where ${here}
  ),
  priced as (
    select v.*, if(price = 0 and max(price) over (partition by domain, product_native_id) > 0, null, price) as own_price,
      coalesce(v.currency, store.currency) as own_currency
    from feed.variant v
    semi join feed.first_variant using (seq)
    semi join (select domain, native_id as product_native_id from part) using (domain, product_native_id)
    join feed.store using (domain)
    where ${here}
  ),
  variant as (
    select domain, product_native_id as native_id,
      list_sort(list({
        'place': position, 'seq': seq,
        'variant_id': id_of('variant', domain, product_native_id || chr(10) || native_id), 'native_id': native_id,
        'title': title, 'sku': sku, 'barcode': barcode, 'price': own_price,
        'compare_at_price': if(compare_at_price > own_price, compare_at_price, null), 'currency': own_currency,
        'grams': grams, 'available': available, 'option1': option1, 'option2': option2, 'option3': option3,
        'image_src': image_src, 'requires_shipping': requires_shipping
      })) as variants,
      coalesce(arg_min(own_currency, (position, seq)) filter (where own_price is not null), min(own_currency)) as currency
    from priced group by all
  ),
  picture as (
    select domain, product_native_id as native_id,
      list_sort(list({'place': place, 'seq': seq, 'src': src, 'width': width, 'height': height})) as images
    from (
      select domain, product_native_id, src, min(position) as place, min(seq) as seq,
        any_value(width) as width, any_value(height) as height
      from feed.image
      semi join (select domain, native_id as product_native_id from part) using (domain, product_native_id)
      where ${here}
      group by all
    )
    group by all
  )
  select
    id_of('product', domain, native_id) as product_id,
    id_of('store', domain, '') as store_id,
    native_id, stated.title, handle, vendor, product_type,
    category, sub_category, category_method, category_confidence, category_evidence,
    tags, body_text,
    list_transform(coalesce(images, []), lambda image: {'src': image.src, 'width': image.width, 'height': image.height}) as images,
    coalesce(price_range.min, list_min(list_transform(list_filter(variants, lambda v: v.currency is not distinct from variant.currency), lambda v: v.price))) as price_min,
    coalesce(price_range.max, list_max(list_transform(list_filter(variants, lambda v: v.currency is not distinct from variant.currency), lambda v: v.price))) as price_max,
    coalesce(variant.currency, store.currency) as currency,
    list_transform(coalesce(variants, []), lambda v, i: {
      'variant_id': v.variant_id, 'native_id': v.native_id, 'title': v.title, 'sku': v.sku, 'barcode': v.barcode,
      'price': v.price, 'compare_at_price': v.compare_at_price, 'currency': v.currency, 'grams': v.grams,
      'available': v.available, 'option1': v.option1, 'option2': v.option2, 'option3': v.option3, 'position': i::integer,
      'image_src': v.image_src, 'requires_shipping': v.requires_shipping
    }) as variants,
    is_merchandise and not coalesce(list_bool_and(list_transform(variants, lambda v: not v.requires_shipping)), false) as is_merchandise,
    published_at, created_at,
    source_rows,
    fetched_at, ${literal(run_id)} as run_id, raw_sha256
  from stated
  join feed.store store using (domain)
  left join variant using (domain, native_id)
  left join picture using (domain, native_id)
  join feed.category using (seq)`
}

const collections = (run_id: string) => `
  insert into storefront.collection by name
  with belonging as (
    select m.domain, m.collection_native_id as native_id, m.product_native_id, min(m.position) as place, min(m.seq) as seq
    from feed.member m
    semi join (
      select domain, native_id from feed.first_product where is_published union all from feed.rejected
    ) p on p.domain = m.domain and p.native_id = m.product_native_id
    group by all
  ),
  listed as (
    select domain, native_id,
      list_sort(list({'place': place, 'seq': seq, 'id': id_of('product', domain, product_native_id)})) as members
    from belonging group by all
  )
  select
    id_of('collection', domain, native_id) as collection_id,
    id_of('store', domain, '') as store_id,
    native_id, title, handle, description,
    image.src as image_src, image.width as image_width, image.height as image_height, published_at, updated_at,
    list_transform(coalesce(members, []), lambda member: member.id) as product_ids,
    fetched_at, ${literal(run_id)} as run_id, raw_sha256
  from feed.collection semi join feed.first_collection using (domain, native_id, seq)
  left join listed using (domain, native_id)`

/** A product in a rejected row is still listed: it keeps its known data, if there is any. */
const listedAllTheSame = `
  insert into storefront.sighting by name
  select distinct 'product' as kind, id_of('product', rejected.domain, rejected.native_id) as id, store.store_id,
    read_at as first_seen_at, read_at as listed_since, true as is_listed
  from feed.rejected
  join storefront.store store on store.domain = rejected.domain
  join ingest.store_read read on read.store_id = store.store_id
  anti join storefront.product product on product.product_id = id_of('product', rejected.domain, rejected.native_id)`

/**
 * Products of which some rows may be usable and others are not. The warehouse accepts such a product only if none of
 * its variants is missing.
 */
const halfProducts = `
  ${createHalfProductTable};
  insert into ${halfProductTable}
  select id_of('product', domain, native_id) from feed.rejected
  union
  select id_of('product', domain, product_native_id) from feed.excess_variant`

const unpublished = `
  select sum(rows) from feed.behind b
  join feed.first_product p on p.domain = b.domain and p.native_id = b.product_native_id
  where not is_published`
const seenAgain = `
  select sum(rows) - count(distinct (domain, native)) from (
    select b.domain, b.product_native_id as native, rows from feed.behind b join feed.store using (domain)
    join feed.first_product p on p.domain = b.domain and p.native_id = b.product_native_id
    where not merges and is_published
  )`

/**
 * Fills `storefront.product` and `storefront.collection`, from at most `most` bytes of rows at a time. Returns the
 * number of rejected rows, and the number of rows that add nothing.
 */
export const putTogether = Effect.fnUntraced(function* (
  db: Db,
  run_id: string,
  folder: string,
  surveys: Surveys,
  most?: number
) {
  yield* db.run(`${tellApartBySku}; ${firsts}; ${findExcess}; ${setExcessApart(run_id)}; ${findAgain}`)
  yield* Effect.forEach(rejects(run_id), (sql) => db.run(sql), { discard: true })
  yield* categorise(db, folder, surveys)
  yield* db.run(countRows)
  const parts = yield* divideIntoParts(db, most)
  // one transaction: rows go to the file as soon as they fill a row group, not to the write-ahead log before that
  yield* db.run(["begin", ...parts.map((part) => products(run_id, part)), "commit"].join(";\n"))
  yield* db.run(collections(run_id))
  yield* db.run(`${listedAllTheSame}; ${halfProducts}`)
  const rows_rejected =
    (yield* rowsOf(db, "(select count(*) from feed.variant_again)")) +
    (yield* rowsOf(db, `(select count(*) ${excessRows})`)) +
    (yield* rowsOf(db, `(select sum(rows) ${orphans})`))
  const repeatedCollections =
    "(select count(*) from feed.collection anti join feed.first_collection using (domain, native_id, seq))"
  const rows_silent =
    (yield* rowsOf(db, `(${unpublished})`)) +
    (yield* rowsOf(db, `(${seenAgain})`)) +
    (yield* rowsOf(db, repeatedCollections))
  return { rows_rejected, rows_silent }
})
