import { join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { Effect, FileSystem, Schema } from "effect"
import { DuckDb } from "../duckdb.ts"
import { define } from "../tables/dictionary.ts"
import { storefront } from "../tables/storefront/data-set.ts"
import type { ListPosition, StoreLists } from "./store-lists.ts"
import { loadStorefronts } from "./storefront.ts"

/** Sizes around the distance between positions in memory, and an empty store. */
const sizes = { a: 1, b: 5000, c: 4096, d: 2048, e: 2047, f: 0 }

/** A quarter of the rows share their publication time with others, and a quarter have none. */
const insertRows = (store: string, rows: number) => `
  insert into storefront.listing by name
  select 'platform_store_${store}' as store_id, product_id, product_id as title, published_at, [] as tags,
    'uncategorized' as category, 'uncategorized' as sub_category, 0 as variant_count,
    row_number() over (order by published_at desc nulls last, product_id)::integer as place
  from (
    select 'platform_product_${store}_' || md5(i::varchar)[:12] as product_id,
      case when i % 4 = 0 then timestamp '2026-01-01' + interval (i // 400) hours
        when i % 4 < 3 then timestamp '2026-06-06 12:41:05.123456' - interval (i * 7919 % 5000) minutes end as published_at
    from range(${rows}) as numbers(i)
  )
  order by place`

const Listed = Schema.Struct({ id: Schema.String, published: Schema.NullOr(Schema.BigInt) })
const selectListed = `
  select product_id as id, epoch_us(published_at) as published from storefront.listing
  where store_id = $store order by published_at desc nulls last, product_id`

const openStores = oncePerFile(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = join(yield* fs.makeTempDirectoryScoped({ prefix: "larder-test-" }), "stores.duckdb")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const db = yield* DuckDb.readWrite(file)
        yield* define(db, storefront)
        for (const [store, rows] of Object.entries(sizes)) yield* db.run(insertRows(store, rows))
      })
    )
    const db = yield* DuckDb.readOnly(file)
    const { products } = yield* loadStorefronts(db)
    const readAll = (store: string) => db.all(Listed, selectListed, { store })
    return { products, readAll }
  })
)

const parseIds = (records: ReadonlyArray<string>) => records.map((record) => String(JSON.parse(record).id))
const readPages = Effect.fnUntraced(function* (products: StoreLists, store: string, limit: number) {
  const ids: Array<string> = []
  let after: ListPosition | undefined
  do {
    const { next, records } = yield* products.page(store, after, limit)
    ids.push(...parseIds(records))
    after = next
  } while (after !== undefined)
  return ids
})

describe("pages of a long list", () => {
  itLive("add up to the whole list, in every page size", () =>
    Effect.gen(function* () {
      const { products, readAll } = yield* openStores
      for (const [name, rows] of Object.entries(sizes)) {
        const store = `platform_store_${name}`
        const ids = (yield* readAll(store)).map(({ id }) => id)
        assert.strictEqual(products.count(store), rows)
        for (const limit of [200, 999, 2048, 5000])
          assert.deepStrictEqual(yield* readPages(products, store, limit), ids)
      }
    })
  )
  itLive("begin after a position that matches no row", () =>
    Effect.gen(function* () {
      const { products, readAll } = yield* openStores
      const store = "platform_store_b"
      const rows = yield* readAll(store)
      for (let index = 0; index < rows.length; index += 97) {
        const row = rows[index]
        if (row === undefined) return assert.fail("there are as many rows as counted")
        const after = { published: row.published, id: `${row.id}~` } // after this row, and before the next
        const { records } = yield* products.page(store, after, 3)
        assert.deepStrictEqual(
          parseIds(records),
          rows.slice(index + 1, index + 4).map(({ id }) => id)
        )
      }
      const first = yield* products.page(store, { published: 2n ** 60n, id: "" }, 1)
      assert.deepStrictEqual(parseIds(first.records), [rows[0]?.id])
      const last = yield* products.page(store, { published: null, id: "~" }, 1)
      assert.deepStrictEqual(last, { records: [], next: undefined })
    })
  )
  itLive("are empty for a store that lists nothing or is unknown", () =>
    Effect.gen(function* () {
      const { products } = yield* openStores
      for (const store of ["platform_store_f", "platform_store_none"]) {
        assert.deepStrictEqual(yield* products.page(store, undefined, 50), { records: [], next: undefined })
      }
    })
  )
})
