/**
 * Finds the category of every product, once all of its store is known: what the store sells mostly, and whether the ids that it
 * states can be believed, decide with it. Products pass through in pages; nothing here grows with their number.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { writeLines } from "../run/write-all.ts"
import { classify, type surveyStore } from "./category/classify.ts"

export type Surveys = ReadonlyMap<string, ReturnType<typeof surveyStore>>

const pageRows = 20_000

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

const titles = `
  create table feed.title as
  select m.domain, m.product_native_id as native_id, list(distinct c.title order by c.title) as collections
  from feed.member m
  join feed.collection c on c.domain = m.domain and c.native_id = m.collection_native_id
  group by all`

const page = (after: number) => `
  select seq::integer as seq, domain, p.title, product_type, stated_category, vendor,
    coalesce(to_json(tags)::varchar, '[]') as tags, coalesce(to_json(collections)::varchar, '[]') as collections
  from feed.product p
  semi join feed.first_product first using (domain, native_id, seq)
  left join feed.title using (domain, native_id)
  where seq > ${after} and is_published
  order by seq
  limit ${pageRows}`

const load = (file: string) => `
  insert into feed.category by name
  from read_json(${literal(file)}, format = 'newline_delimited', auto_detect = false, columns = {
    'seq': 'bigint', 'category': 'varchar', 'sub_category': 'varchar', 'category_method': 'varchar',
    'category_confidence': 'double', 'category_evidence': 'varchar'
  })`

/** Fills `feed.category`. `folder` is the run's own. */
export const categorise = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string, surveys: Surveys) {
  const file = join(folder, "category.ndjson")
  const views = new Map([...surveys].map(([domain, survey]) => [domain, survey.view()]))
  yield* db.run(titles)
  for (let after = -1; ; ) {
    const products = yield* db.all(Product, page(after))
    const last = products.at(-1)
    if (last === undefined) break
    after = last.seq
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
