/**
 * Finds the category of every product, once all of its store is known: what the store sells mostly, and whether the ids that it
 * states can be believed, decide with it. Products pass through in pages of so many bytes; nothing here grows with their number, or with their texts.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { writeLines } from "../run/write-all.ts"
import { classify, type surveyStore } from "./category/classify.ts"

export type Surveys = ReadonlyMap<string, ReturnType<typeof surveyStore>>

/** As UTF-8, of what is asked for. The rows of a page take some ten times as much. */
const pageBytes = 12 << 20

/** What a product is stands at the beginning, or nowhere. Shopify allows 250 tags; most products have ten. */
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

/** What a product takes beside its texts. */
const bytesOfProduct = 500
const beginning = (column: string) => `left(${column}, ${fewCharacters})`
const bytesOf = (list: string) => `coalesce(list_sum(list_transform(${list}, lambda text: strlen(text))), 0)`

/** Titles of the collections that hold a product, the first in their order. */
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

/** The last product of each page: a page that looks for its end itself reads all that is left. */
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

/** What is known of each product when all of its store has been read. */
export const describe = (db: DuckDb["Service"]) => db.run(`${titles}; ${described}`)
export const endsOfPages = (db: DuckDb["Service"], most = pageBytes) => db.all(End, ends(most))

/** Fills `feed.category`. `folder` is the run's own. */
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
