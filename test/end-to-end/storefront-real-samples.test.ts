/**
 * Ingests recordings of real stores in one run, and compares all products, variants, images and prices with independent
 * counts.
 */
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { Ended } from "../support/programs.ts"
import { describeSamples } from "../support/shared-samples.ts"
import { parseRunRecord, removeFolder, temporaryFolder } from "./ingesting.ts"
import { listRecordings, recordedStores, samples } from "./storefront-recordings.ts"
import { outcomesOf, replayStores, rowsOf, writeFiles } from "./storefronts.ts"

/** The warehouse's counts, to compare with the independent counts of the raw files. */
const countsOfStores = `
  with v as (
    select store_id, count(*) as variants,
      sum(price) * 10000 as prices,
      coalesce(sum(compare_at_price) * 10000, 0) as former_prices,
      sum(len(list_filter([option1, option2, option3], lambda text: text is not null))) as "options",
      count(*) filter (available) as available,
      count(*) filter (not available) as sold_out
    from storefront.variant group by store_id
  ),
  p as (select store_id, count(*) as products, sum(len(images)) as images from storefront.product group by store_id),
  r as (select feed, count(*) as rejected from ingest.reject group by feed)
  select domain, columns(* exclude (domain, store_id, feed))::double
  from (
    select domain, store_id, p.products, p.images, coalesce(r.rejected, 0) as rejected, v.* exclude (store_id), r.feed
    from storefront.store join p using (store_id) join v using (store_id) left join r on feed = 'store/' || domain
  )
  order by domain`

/** Variants of a store, each with its product. */
const variantsOf = (domain: string) => `(
  select v.*, p.native_id as product, p.title as product_title, p.handle, p.vendor, p.category, p.body_text
  from storefront.variant v
  join storefront.product p using (product_id)
  join storefront.store s on s.store_id = v.store_id
  where s.domain = '${domain}'
)`

const testRecordings = () => {
  const home = temporaryFolder()
  const folder = temporaryFolder()
  const stores = recordedStores()
  let end: Ended | undefined
  beforeAll(async () => {
    for (const { files } of stores) writeFiles(folder, files)
    writeFiles(folder, { "stores.json": stores.map(({ store }) => store) })
    end = await replayStores(home, folder)
  })
  afterAll(() => [home, folder].map(removeFolder))

  const find = (sql: string) => rowsOf(home, sql)

  it("use all 28 sample files", () => {
    const used = new Set(listRecordings(stores))
    const kinds = ["shopify-json", "shopify-csv", "google-merchant", "woocommerce"]
    const files = kinds.flatMap((kind) => readdirSync(path.join(samples, kind)).map((name) => path.join(kind, name)))
    expect(files.filter((name) => !used.has(readFileSync(path.join(samples, name), "utf8")))).toEqual([])
    expect(files.length).toBe(28)
  })

  it("account for all 4,275 rows as loaded, unchanged or rejected", async () => {
    expect(end?.code, end?.stderr).toBe(4)
    const run = parseRunRecord(end ?? { stdout: "{}" })
    expect(run).toMatchObject({ outcome: "partial", rows_read: 4275, rows_rejected: 158 })
    expect(Number(run.rows_loaded) + Number(run.rows_unchanged) + Number(run.rows_rejected)).toBe(run.rows_read)
    expect(await find("select sum(rows_read)::integer as n from ingest.raw_file")).toEqual([{ n: run.rows_read }])
    expect(await find("select count(*)::integer as n from ingest.reject")).toEqual([{ n: run.rows_rejected }])
  })

  it("agree with an independent count of each raw file: products, variants, images, options, stock, prices", async () => {
    const expected = stores.map(({ counts, store: { domain } }) => ({ domain, ...counts }))
    expect(await find(countsOfStores)).toEqual(expected.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)))
  })

  it("are read completely, except for one store whose collections were not recorded, and one that repeats 158 ids", async () => {
    const { "davidan.shop.example": davidan, "sooq-masr.google.example": sooqMasr, ...others } = await outcomesOf(home)
    expect([davidan, sooqMasr]).toEqual(["partial broken_off", "partial rejected"])
    expect([...new Set(Object.values(others))]).toEqual(["complete complete"])
  })

  it("give every product a category and a method, with fewer than 5% uncategorized", async () => {
    const [row] = await find(`
      select (select count(*) from storefront.product)::integer as products, count(*)::integer as decided,
        count(*) filter (method = 'none')::integer as undecided,
        count(*) filter ((method = 'none') <> (category = 'uncategorized' and sub_category = 'uncategorized'))::integer as wrong
      from storefront.product_category where method is not null and confidence between 0 and 1`)
    expect(row).toMatchObject({ decided: row?.products, wrong: 0 })
    expect(Number(row?.undecided)).toBeLessThan(Number(row?.products) * 0.05)
  })

  it("give each product and each variant its own id", async () => {
    expect(
      await find(`
        select (select count(*) = count(distinct product_id) from storefront.product) as products,
          (select count(*) = count(distinct variant_id) from storefront.variant) as variants`)
    ).toEqual([{ products: true, variants: true }])
  })

  it("drop 36 of 338 compare-at prices, 163 placeholder options and 406 empty SKUs, and use the list's currency", async () => {
    expect(
      await find(`
        select count(compare_at_price)::integer as former, count(*) filter (option1 is null)::integer as placeholders,
          count(sku)::integer as skus, string_agg(distinct currency) as currency
        from ${variantsOf("madhavasrinivasan.shop.example")}`)
    ).toEqual([{ former: 302, placeholders: 163, skus: 0, currency: "INR" }])
  })

  it("have no currency if neither the feed nor the list states one", async () => {
    expect(
      await find(`select distinct currency from ${variantsOf("1702london.shop.example")}
        union all select currency from storefront.store where domain = '1702london.shop.example'`)
    ).toEqual([{ currency: null }, { currency: null }])
  })

  it("have the currency, country and city that a store states", async () => {
    expect(
      await find(`
        select name, currency, country, city, myshopify_domain, reported_product_count from storefront.store
        where domain = 'davidan.shop.example'`)
    ).toEqual([
      {
        name: "davidan",
        currency: "MDL",
        country: "RO",
        city: "Chișinău",
        myshopify_domain: "ladanutmd.myshopify.com",
        reported_product_count: 62
      }
    ])
  })

  it("share the ids of four products between both languages of a store", async () => {
    const [row] = await find(`
      select count(distinct e.product)::integer as products,
        count(*) filter (e.product_title <> a.product_title)::integer as translated
      from ${variantsOf("elsewedyshop-en.shop.example")} e
      join ${variantsOf("elsewedyshop.shop.example")} a using (product, native_id)`)
    expect(row).toEqual({ products: 4, translated: 9 })
  })

  it("have vendors and texts without HTML, and are listed by time, whatever the UTC offset", async () => {
    const farm = await find(`select vendor, body_text from ${variantsOf("daraghoshea.shop.example")}`)
    expect(farm.map(({ vendor }) => vendor)).toContain("Annie's Organic Farm")
    expect(farm.filter(({ body_text }) => /<\/?(p|span|div|br)\b|\\u003c|\\\//i.test(String(body_text)))).toEqual([])
    expect(
      await find(`
        select count(*)::integer as listed, count(*) filter (published_at > earlier)::integer as wrong
        from (select published_at, lag(published_at) over (partition by store_id order by place) as earlier
          from storefront.listing)`)
    ).toEqual([{ listed: 3135, wrong: 0 }])
  })

  it("use the currency of each item, and have none for a store whose items use several", async () => {
    expect(
      await find(`
        select currency, count(*)::integer as n from ${variantsOf("barisugus.google.example")}
        group by currency order by n desc`)
    ).toEqual([
      { currency: "USD", n: 403 },
      { currency: "EUR", n: 378 },
      { currency: "TRY", n: 4 }
    ])
    expect(
      await find(`
        select domain, currency from storefront.store
        where domain in ('barisugus.google.example', 'sooq-masr.google.example') order by domain`)
    ).toEqual([
      { domain: "barisugus.google.example", currency: null }, // its items use three
      { domain: "sooq-masr.google.example", currency: "EGP" }
    ])
  })

  it("have 158 items with a duplicate id rejected, each with a reason", async () => {
    const rejects = await find("select feed, reason, payload from ingest.reject")
    expect(new Set(rejects.map(({ feed }) => feed))).toEqual(new Set(["store/sooq-masr.google.example"]))
    expect(rejects.length).toBe(158)
    for (const { payload, reason } of rejects) {
      const { native_id }: { readonly native_id: string } = JSON.parse(String(payload))
      expect(reason).toBe(`duplicate id ${native_id} (first seen in an earlier row)`)
    }
  })

  it("keep all items of malformed feeds, and ignore shipping prices", async () => {
    expect(
      await find(`
        select count(*)::integer as variants, min(price)::double as lowest
        from ${variantsOf("mattosrodrigo.google.example")} group by product order by variants`)
    ).toEqual([
      { variants: 1, lowest: 449.9 },
      { variants: 4, lowest: 599.9 }
    ])
    expect(
      await find(`
        select count(*)::integer as n, min(price)::double > 0 as priced, count(compare_at_price) > 0 as reduced
        from ${variantsOf("velofant.google.example")}`)
    ).toEqual([{ n: 26, priced: true, reduced: true }])
  })

  it("mark 40 variants as sold out, each with the title of its product", async () => {
    expect(
      await find(`
        select count(*)::integer as n, count(product_title)::integer as titles
        from ${variantsOf("taras2121212.google.example")} where not available`)
    ).toEqual([{ n: 40, titles: 40 }])
  })

  it("use a lower sale price as the price, and the regular price as the compare-at price", async () => {
    expect(
      await find(`
        select price::double as price, compare_at_price::double as former, currency
        from ${variantsOf("sooq-alemarat-csv.google.example")} where product = '1'`)
    ).toEqual([{ price: 150, former: 200, currency: "AED" }])
  })

  it("leave out archived, draft and unpublished products, and have barcodes of digits only", async () => {
    const listed = async (domain: string) => {
      const [row] = await find(`select count(distinct product)::integer as n from ${variantsOf(domain)}`)
      return row?.n
    }
    expect(
      await Promise.all(["velofant", "yadayadasoftware", "jewelery"].map((name) => listed(`${name}.csv.example`)))
    ).toEqual([
      12, // of 14
      1, // of 3
      20 // an old export has no Status column
    ])
    const barcodes = await find(`select barcode from ${variantsOf("mintpixels.csv.example")} where barcode is not null`)
    expect(barcodes.length).toBeGreaterThan(300)
    expect(barcodes.filter(({ barcode }) => !/^\d+$/.test(String(barcode)))).toEqual([])
  })

  it("give more than 120 of the 141 products of a food shop the category of food", async () => {
    const [row] = await find(`
      select count(*) filter (category = 'food_beverages_and_tobacco')::integer as foods, count(*)::integer as n
      from (select distinct product, category from ${variantsOf("kevin-ecometrics.csv.example")})`)
    expect(row?.n).toBe(141)
    expect(Number(row?.foods)).toBeGreaterThan(120)
  })

  it("have prices in whole units of their currency, and handles without percent-encoding", async () => {
    const rows = await find(`
      select price::varchar as price, compare_at_price::varchar as former, currency, handle
      from ${variantsOf("samehgabriel.shop.example")}`)
    expect(rows).toContainEqual(expect.objectContaining({ price: "2776.6600", former: "2985.6600", currency: "EGP" }))
    expect(rows.filter(({ handle }) => /%[0-9a-f]{2}/i.test(String(handle)))).toEqual([])
  })
}

describeSamples("storefront", "recordings of real stores", testRecordings)
