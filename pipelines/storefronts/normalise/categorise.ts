/**
 * Finds the category of every product. This needs all products of its store, because what the store mostly sells helps
 * to decide. Products are read in pages of limited bytes, so memory grows neither with their number nor with their
 * texts.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type DuckDb, literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { writeLines } from "../../run/files/write-all.ts"
import { classify } from "./category/classify.ts"
import type { surveyStore } from "./category/survey.ts"

export type Surveys = ReadonlyMap<string, ReturnType<typeof surveyStore>>

/** UTF-8 bytes of the selected columns. The rows of a page take about ten times as much memory. */
const pageBytes = 12 << 20

/** A text names the product at its beginning or not at all. */
const maxTextCharacters = 500
const maxCollections = 50

const nullableString = Schema.NullOr(Schema.String)
const Product = Schema.Struct({
  seq: Schema.Int,
  domain: Schema.String,
  title: Schema.String,
  product_type: nullableString,
  stated_category: nullableString,
  vendor: nullableString,
  collections: Schema.Array(Schema.String)
})

const productBytes = 500
const limitText = (column: string) => `left(${column}, ${maxTextCharacters})`

/** Titles of the collections that contain a product: the first `maxCollections` in alphabetical order. */
const titles = `
  create table feed.title as
  select domain, native_id, titles as collections, list_sum(list_transform(titles, lambda text: strlen(text)))::bigint as bytes
  from (
    select domain, native_id, min(title, ${maxCollections}) as titles
    from (
      select distinct m.domain, m.product_native_id as native_id, ${limitText("c.title")} as title
      from feed.member m
      join feed.collection c on c.domain = m.domain and c.native_id = m.collection_native_id
    )
    group by domain, native_id
  )`

const described = `
  create view feed.described as
  select seq, domain, p.native_id, ${limitText("p.title")} as title, product_type, stated_category,
    ${limitText("vendor")} as vendor
  from feed.product p semi join feed.first_product using (seq)
  where is_published`

/** The last product of each page. All are found together: one query per page would read all remaining products. */
const End = Schema.Struct({ seq: Schema.Int })
const selectPageEnds = (maxBytes: number) => `
  select max(seq)::integer as seq
  from (
    select seq, (sum(bytes) over (order by seq) - bytes) // ${maxBytes} as page
    from (
      select seq, ${productBytes} + strlen(concat(title, product_type, stated_category, vendor)) + coalesce(t.bytes, 0) as bytes
      from feed.described left join feed.title t using (domain, native_id)
    )
  )
  group by page order by seq`

const selectPage = (after: number, end: number) => `
  select seq::integer as seq, domain, title, product_type, stated_category, vendor,
    coalesce(collections, []) as collections
  from feed.described
  left join feed.title using (domain, native_id)
  where seq > ${after} and seq <= ${end}
  order by seq`

const loadCategoriesSql = (file: string) => `
  insert into feed.category by name
  from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false, columns = {
    'seq': 'bigint', 'category': 'varchar', 'sub_category': 'varchar', 'category_method': 'varchar',
    'category_confidence': 'double', 'category_evidence': 'varchar'
  })`

const stageDescriptions = (db: DuckDb["Service"]) => db.run(`${titles}; ${described}`)
export const findPageEnds = (db: DuckDb["Service"], maxBytes = pageBytes) => db.all(End, selectPageEnds(maxBytes))

/** Fills `feed.category`. `folder` is private to the run. */
export const categorizeProducts = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  folder: string,
  surveys: Surveys
) {
  const file = join(folder, "category.ndjson")
  const views = new Map([...surveys].map(([domain, survey]) => [domain, survey.view()]))
  yield* stageDescriptions(db)
  let after = -1
  for (const { seq: end } of yield* findPageEnds(db)) {
    const products = yield* db.all(Product, selectPage(after, end))
    after = end
    yield* writeLines(
      file,
      products.map(({ domain, seq, ...product }) => {
        const { category, confidence, evidence, method, sub_category } = classify(product, views.get(domain))
        return `${JSON.stringify({ seq, category, sub_category, category_method: method, category_confidence: confidence, category_evidence: evidence })}\n`
      })
    )
    yield* db.run(loadCategoriesSql(file))
  }
  yield* Effect.promise(() => rm(file, { force: true }))
})
