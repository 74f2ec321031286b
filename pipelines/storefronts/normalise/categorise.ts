/**
 * Finds the category of every product after all products of its store are staged, since what the store mostly sells
 * helps to decide. Products are read in pages of limited bytes; memory grows neither with the number of products nor
 * with the length of their texts.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { writeLines } from "../../run/files/write-all.ts"
import { classify, type surveyStore } from "./category/classify.ts"

export type Surveys = ReadonlyMap<string, ReturnType<typeof surveyStore>>

/** UTF-8 bytes of the selected columns. The rows of a page take about ten times as much memory. */
const pageBytes = 12 << 20

/** A text says what the product is at its beginning or not at all. Shopify allows 250 tags; most products have ten. */
const fewCharacters = 500
const fewTags = 50

const text = Schema.NullOr(Schema.String)
const Product = Schema.Struct({
  seq: Schema.Int,
  domain: Schema.String,
  title: Schema.String,
  product_type: text,
  stated_category: text,
  vendor: text,
  tags: Schema.fromJsonString(Schema.Array(Schema.String)),
  collections: Schema.fromJsonString(Schema.Array(Schema.String))
})

/** Bytes that a product takes in addition to its texts. */
const bytesOfProduct = 500
const beginning = (column: string) => `left(${column}, ${fewCharacters})`
const bytesOf = (list: string) => `coalesce(list_sum(list_transform(${list}, lambda text: strlen(text))), 0)`

/** Titles of the collections that contain a product: the first `fewTags` in alphabetical order. */
const titles = `
  create table feed.title as
  select domain, native_id, titles as collections, ${bytesOf("titles")}::bigint as bytes
  from (
    select domain, native_id, min(title, ${fewTags}) as titles
    from (
      select distinct m.domain, m.product_native_id as native_id, ${beginning("c.title")} as title
      from feed.member m
      join feed.collection c on c.domain = m.domain and c.native_id = m.collection_native_id
    )
    group by domain, native_id
  )`

const described = `
  create view feed.described as
  select seq, domain, p.native_id, ${beginning("p.title")} as title, product_type, stated_category,
    ${beginning("vendor")} as vendor, tags[:${fewTags}] as tags
  from feed.product p semi join feed.first_product using (seq)
  where is_published`

/** The last product of each page. All are found together: one query per page would read all remaining products. */
const End = Schema.Struct({ seq: Schema.Int })
const ends = (most: number) => `
  select max(seq)::integer as seq
  from (
    select seq, (sum(bytes) over (order by seq) - bytes) // ${most} as page
    from (
      select seq, ${bytesOfProduct} + strlen(concat(title, product_type, stated_category, vendor)) + ${bytesOf("tags")}
        + coalesce(t.bytes, 0) as bytes
      from feed.described left join feed.title t using (domain, native_id)
    )
  )
  group by page order by seq`

const page = (after: number, end: number) => `
  select seq::integer as seq, domain, title, product_type, stated_category, vendor,
    coalesce(to_json(tags)::varchar, '[]') as tags, coalesce(to_json(collections)::varchar, '[]') as collections
  from feed.described
  left join feed.title using (domain, native_id)
  where seq > ${after} and seq <= ${end}
  order by seq`

const load = (file: string) => `
  insert into feed.category by name
  from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false, columns = {
    'seq': 'bigint', 'category': 'varchar', 'sub_category': 'varchar', 'category_method': 'varchar',
    'category_confidence': 'double', 'category_evidence': 'varchar'
  })`

/** Creates `feed.title` and `feed.described`, after all products are staged. */
export const describe = (db: DuckDb["Service"]) => db.run(`${titles}; ${described}`)
export const endsOfPages = (db: DuckDb["Service"], most = pageBytes) => db.all(End, ends(most))

/** Fills `feed.category`. `folder` is private to the run. */
export const categorise = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string, surveys: Surveys) {
  const file = join(folder, "category.ndjson")
  const views = new Map([...surveys].map(([domain, survey]) => [domain, survey.view()]))
  yield* describe(db)
  let after = -1
  for (const { seq: end } of yield* endsOfPages(db)) {
    const products = yield* db.all(Product, page(after, end))
    after = end
    yield* writeLines(
      file,
      products.map(({ domain, seq, ...product }) => {
        const { category, confidence, evidence, method, sub_category } = classify(product, views.get(domain))
        return `${JSON.stringify({ seq, category, sub_category, category_method: method, category_confidence: confidence, category_evidence: evidence })}\n`
      })
    )
    yield* db.run(load(file))
  }
  yield* Effect.promise(() => rm(file, { force: true }))
})
