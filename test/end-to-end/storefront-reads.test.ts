/**
 * Reads of the same stores, one after the other: what changes is told, what is gone is withdrawn, and what could not be read
 * stays as it was, in the warehouse and in the API. One history of ten reads, told by the tests in its order. Some 40 s.
 */
import { createHash } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { newKey, run, type Server, startServer } from "../programs.ts"
import { folderOfTest, query, recordOf, removeFolder, temporaryFolder } from "./ingesting.ts"
import { type Files, outcomesOf, type Row, replayStores, rowsOf, shopifyPages, writeFiles } from "./storefronts.ts"

const domain = "dairy.example"
const bakery = "bakery.example"
const stores = [
  { domain, name: "Dairy", kind: "shopify", location: `https://${domain}`, currency: "EUR" },
  { domain: bakery, name: "Bakery", kind: "shopify-csv", location: "bakery.csv", currency: "GBP" }
]
const exported = `Handle,Title,Option1 Value,Variant Price
rye,Rye bread,Small,2.50
rye,,Large,4.50
spelt,Spelt bread,Default Title,3.20
`

interface Sold {
  readonly price: string
  readonly before?: string
  readonly available?: boolean
}

/** Prices of the variants of each product, by their ids. */
type Shelf = Readonly<Record<number, Readonly<Record<number, Sold>>>>

const pageOf = (shelf: Shelf, updated_at: string) => ({
  products: Object.entries(shelf).map(([id, variants]) => ({
    id: Number(id),
    title: `Cheese ${id}`,
    handle: `cheese-${id}`,
    body_html: "<p>Matured.</p>",
    published_at: `2026-06-0${id}T18:11:05+05:30`,
    created_at: "2026-06-01T00:00:00Z",
    updated_at,
    vendor: "Dairy",
    product_type: "Cheese",
    tags: ["aged"],
    images: [
      { id: 1, position: 1, src: `https://cdn.dairy.example/${id}.jpg`, width: 10, height: 20, variant_ids: [] }
    ],
    options: [],
    variants: Object.entries(variants).map(([variant, { available = true, before = null, price }], index) => ({
      id: Number(variant),
      title: `Size ${variant}`,
      option1: `Size ${variant}`,
      price,
      compare_at_price: before,
      available,
      position: index + 1,
      updated_at
    }))
  }))
})

const cheeses = { id: 900, title: "Cheeses", handle: "cheeses", description: "", image: null, products_count: 77 }
const members = (shelf: Shelf) => ({
  [`${domain}/collections/cheeses/products.json?limit=250&page=1`]: pageOf(shelf, ""),
  [`${domain}/collections/cheeses/products.json?limit=250&page=2`]: { products: [] }
})

const whole = (shelf: Shelf, updated_at = "2026-10-01T00:00:00Z") => ({
  ...shopifyPages(domain, [pageOf(shelf, updated_at)], { collections: [cheeses] }),
  ...members(shelf)
})

const one = { price: "9.50" }
const all: Shelf = {
  1: { 11: one },
  2: { 21: one, 22: one },
  3: { 31: one },
  4: { 41: one },
  5: { 51: one },
  6: { 61: one }
}
const changed: Shelf = {
  ...all,
  1: { 11: { price: "8.00", before: "9.50" } },
  2: { 21: one, 22: { ...one, available: false } }
}
const fewer: Shelf = { 1: changed[1] ?? {}, 2: { 21: one }, 3: { 31: one }, 4: { 41: one }, 5: { 51: one } }
const again: Shelf = { ...fewer, 2: changed[2] ?? {}, 6: { 61: { price: "7.25" } } }

/** As `changed`, but for a product that has lost its title. */
const untitled = () => {
  const page = pageOf(changed, "")
  const products = page.products.map((product) => (product.id === 6 ? { ...product, title: "" } : product))
  return { ...whole(changed), ...shopifyPages(domain, [{ products }], { collections: [cheeses] }), ...members(changed) }
}

/** Recordings of each read: the store, or the part of it that answers. */
const reads = {
  first: whole(all),
  same: whole(all, "2026-10-02T00:00:00Z"),
  changed: whole(changed),
  unusable: untitled(),
  fewer: whole(fewer),
  partial: {
    [`${domain}/products.json?limit=250&page=1`]: pageOf({ 1: { 11: { price: "7.00" } } }, "") // and no second page
  },
  failed: {},
  again: whole(again),
  shrunk: whole({ 1: changed[1] ?? {} }),
  confirmed: whole({ 1: changed[1] ?? {} })
}
type Name = keyof typeof reads
const names = Object.keys(reads) as ReadonlyArray<Name> // keys of a literal object

/** Ids derive from the domain and from what the feed calls a thing, and from nothing else. */
const idOf = (kind: string, ...native: ReadonlyArray<string | number>) => {
  const text = [kind, domain, native.length === 0 ? "" : native.join("\n")].join("\n")
  return `platform_${kind}_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`
}
const productId = (id: number) => idOf("product", id)
const nameOf = new Map(
  Object.entries(all).flatMap(([product, variants]) =>
    Object.keys(variants).map((variant) => [idOf("variant", product, variant), variant] as const)
  )
)

/** What a read left behind: in the warehouse, and in the API. */
interface Left {
  readonly run: Row
  readonly products: ReadonlyArray<unknown>
  readonly collections: ReadonlyArray<unknown>
  readonly sightings: ReadonlyArray<unknown>
  /** Changes of variants of the dairy that the read told: `22 changed 9.5 sold out`. */
  readonly told: ReadonlyArray<string>
  readonly changes: number
  readonly outcome: string | undefined
  readonly store: Row
  readonly api: {
    readonly store: Row
    /** Native ids of the products that are listed. */
    readonly listed: ReadonlyArray<number>
    readonly members: unknown
    readonly sixth: number
  }
}

const jsonOf = (table: string, order: string) =>
  `select to_json(t)::varchar as row from storefront.${table} t order by ${order}`

const changesOf = (run: Row) => `
  select variant_id, change, price::double as price, compare_at_price::double as former, available
  from storefront.variant_change join storefront.store using (store_id)
  where domain = '${domain}' and seen_at in (
    select r.read_at from storefront.store_read r join storefront.store s using (store_id)
    where r.run_id = '${run.run_id}' and s.domain = '${domain}')`

const inWords = ({ available, change, former, price, variant_id }: Row) =>
  [
    nameOf.get(String(variant_id)) ?? "a variant that was never read",
    change,
    ...(price === null ? [] : [price]),
    ...(former === null ? [] : [`before ${former}`]),
    ...(available === false ? ["sold out"] : [])
  ].join(" ")

/** Calls of a server over the home. */
const callsOf = (api: string, key: string) => {
  const call = async (path: string) => {
    const answer = await fetch(`${api}/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await answer.json()) as { readonly data?: unknown }
    return { status: answer.status, data }
  }
  const ids = new Map(Object.keys(all).map((id) => [productId(Number(id)), Number(id)]))
  return async (): Promise<Left["api"]> => {
    const at = `stores/${idOf("store")}`
    const [store, products, collections, sixth] = await Promise.all(
      [at, `${at}/products`, `${at}/collections`, `products/${productId(6)}`].map(call)
    )
    const listed = products?.data as ReadonlyArray<Row>
    const rows = collections?.data as ReadonlyArray<Row>
    return {
      store: store?.data as Row,
      listed: listed.map(({ id }) => ids.get(String(id)) ?? 0),
      members: rows[0]?.product_count,
      sixth: sixth?.status ?? 0
    }
  }
}

const serves = async ({ console }: Server, generation: unknown) => {
  for (let looks = 0; looks < 1200; looks++) {
    const ready = (await (await fetch(`${console}/readyz`)).json()) as { readonly generation: string }
    if (ready.generation === generation) return
    await setTimeout(50)
  }
  throw new Error(`${generation} was never served`)
}

const home = temporaryFolder()
const left = new Map<Name, Left>()
const after = (name: Name): Left => {
  const found = left.get(name)
  if (found === undefined) throw new Error(`${name} was not read`)
  return found
}

const readOnce = async (files: Files) => {
  const folder = writeFiles(temporaryFolder(), { ...files, "stores.json": stores, "bakery.csv": exported })
  try {
    const { code, stderr, stdout } = await replayStores(home, folder)
    if (code !== 0) throw new Error(stderr)
    return recordOf({ stdout })
  } finally {
    removeFolder(folder)
  }
}

const leftBy = async (run: Row, api: Left["api"]): Promise<Left> => {
  const [products = [], collections = [], sightings = [], changes = [], [count] = [], [store = {}] = []] = await query(
    home,
    jsonOf("product", "product_id"),
    jsonOf("collection", "collection_id"),
    jsonOf("sighting", "kind, id"),
    changesOf(run),
    "select count(*)::integer as n from storefront.variant_change",
    `select * from storefront.store where domain = '${domain}'`
  )
  const rows = (found: ReadonlyArray<Row>) => found.map(({ row }): unknown => JSON.parse(String(row)))
  return {
    run,
    products: rows(products),
    collections: rows(collections),
    sightings: rows(sightings),
    told: changes.map(inWords).sort(),
    changes: Number(count?.n),
    outcome: (await outcomesOf(home))[domain],
    store,
    api
  }
}

beforeAll(async () => {
  let server: Server | undefined
  try {
    let ask: (() => Promise<Left["api"]>) | undefined
    for (const name of names) {
      const record = await readOnce(reads[name])
      server ??= await startServer(home)
      ask ??= callsOf(server.api, (await newKey(home)).key)
      await serves(server, record.generation)
      left.set(name, await leftBy(record, await ask()))
    }
  } finally {
    await server?.stop()
  }
}, 600_000)
afterAll(() => removeFolder(home))

/** Products of the dairy by their numbers, as rows of the warehouse. */
const productIn = ({ products }: Left, id: number) => products.find((row) => (row as Row).product_id === productId(id))
const sightingIn = ({ sightings }: Left, id: number) =>
  sightings.find((row) => (row as Row).id === productId(id)) as Row

describe("a read of stores", () => {
  it("that is the first tells every variant, and its ids are known beforehand", () => {
    const { api, outcome, run, told } = after("first")
    expect(run).toMatchObject({
      outcome: "published",
      rows_read: 10,
      rows_loaded: 10,
      rows_unchanged: 0,
      rows_rejected: 0
    })
    expect(told).toEqual(["11", "21", "22", "31", "41", "51", "61"].map((variant) => `${variant} first_seen 9.5`))
    expect(outcome).toBe("complete complete")
    expect(api).toMatchObject({ listed: [6, 5, 4, 3, 2, 1], members: 6, sixth: 200 })
    expect(api.store).toMatchObject({
      id: idOf("store"),
      fetch_status: "complete",
      product_count: 6,
      collection_count: 1
    })
  })

  it("that finds the same publishes that it was seen again, and nothing else, although every updated_at is another", () => {
    const [before, now] = [after("first"), after("same")]
    expect(now.run).toMatchObject({ outcome: "published", rows_read: 10, rows_loaded: 0, rows_unchanged: 10 })
    expect(now.products).toEqual(before.products)
    expect(now.collections).toEqual(before.collections)
    expect([now.changes, now.told]).toEqual([before.changes, []])
    for (const [index, sighting] of now.sightings.entries()) {
      const earlier = before.sightings[index] as Row
      expect(sighting).toEqual({ ...earlier, last_seen_at: expect.any(String) })
      expect(String((sighting as Row).last_seen_at) > String(earlier.last_seen_at)).toBe(true)
    }
    expect(now.api.store).toEqual({ ...before.api.store, fetched_at: expect.any(String) })
    expect(now.api.store.fetched_at).not.toBe(before.api.store.fetched_at)
  })

  it("that finds another price and a variant sold out tells these two changes and publishes these two products", () => {
    const [before, now] = [after("same"), after("changed")]
    expect(now.told).toEqual(["11 changed 8 before 9.5", "22 changed 9.5 sold out"])
    expect(now.changes).toBe(before.changes + 2)
    expect(now.run.rows_loaded).toBe(2)
    for (const id of [3, 4, 5, 6]) expect(productIn(now, id)).toEqual(productIn(before, id))
    expect(productIn(now, 1)).toMatchObject({ price_min: 8, variants: [{ price: 8, compare_at_price: 9.5 }] })
  })

  it("that cannot use the row of a product keeps it listed as it was", () => {
    const [before, now] = [after("changed"), after("unusable")]
    expect(now.run).toMatchObject({ rows_loaded: 0, rows_rejected: 1 })
    expect([now.outcome, now.told]).toEqual(["complete complete", []])
    expect(now.products).toEqual(before.products)
    expect(now.api).toMatchObject({ listed: [6, 5, 4, 3, 2, 1], members: 6, sixth: 200 })
    expect(sightingIn(now, 6)).toEqual({ ...sightingIn(before, 6), last_seen_at: now.store.read_at })
  })

  it("that is complete withdraws what is gone: from the lists, from the collection, and the API answers 404", () => {
    const [before, now] = [after("unusable"), after("fewer")]
    expect(now.told).toEqual(["22 gone", "61 gone"])
    expect(now.api).toMatchObject({ listed: [5, 4, 3, 2, 1], members: 5, sixth: 404 })
    expect(now.api.store).toMatchObject({ product_count: 5, fetch_status: "complete" })
    expect(sightingIn(now, 6)).toEqual({ ...sightingIn(before, 6), is_listed: false })
    expect(productIn(now, 6)).toEqual(productIn(before, 6)) // analysts keep the row
  })

  it("that breaks off takes what it found, and withdraws nothing", () => {
    const [before, now] = [after("fewer"), after("partial")]
    expect(now.outcome).toBe("partial broken_off")
    expect(now.told).toEqual(["11 changed 7"])
    expect(now.api).toMatchObject({ listed: before.api.listed, members: 5, sixth: 404 })
    expect(now.api.store).toMatchObject({ fetch_status: "partial", product_count: 5, currency: "EUR" })
    expect(sightingIn(now, 5)).toEqual(sightingIn(before, 5))
    expect(productIn(now, 5)).toEqual(productIn(before, 5))
  })

  it("that fails leaves everything as it was, the time of its rows included, and does not keep other stores", () => {
    const [before, now] = [after("partial"), after("failed")]
    expect(now.run).toMatchObject({ outcome: "published", rows_read: 3 })
    expect(now.outcome).toBe("failed not_found")
    expect([now.told, now.changes]).toEqual([[], before.changes])
    expect(now.products).toEqual(before.products)
    expect(now.collections).toEqual(before.collections)
    expect(now.api).toEqual({ ...before.api, store: { ...before.api.store, fetch_status: "failed" } })
    const { fetched_at, outcome_detail, read_at, run_id } = now.store
    expect(fetched_at).toEqual(before.store.fetched_at)
    expect([read_at, run_id]).not.toEqual([before.store.read_at, before.store.run_id])
    expect(outcome_detail).toMatch(/no recording answers https:\/\/dairy\.example\/products\.json/)
  })

  it("that finds a product again gives it back, with the id and the first sight that it had", () => {
    const now = after("again")
    expect(now.told).toEqual(["11 changed 8 before 9.5", "22 back 9.5 sold out", "61 back 7.25"])
    expect(now.api).toMatchObject({ listed: [6, 5, 4, 3, 2, 1], members: 6, sixth: 200 })
    expect(sightingIn(now, 6)).toMatchObject({
      is_listed: true,
      first_seen_at: sightingIn(after("first"), 6).first_seen_at
    })
  })

  it("that finds less than half withdraws nothing until the next one finds the same", () => {
    const [before, now, later] = [after("again"), after("shrunk"), after("confirmed")]
    expect(now.outcome).toBe("partial shrunk")
    expect([now.told, now.api.listed]).toEqual([[], before.api.listed])
    expect(later.outcome).toBe("complete complete")
    expect(later.told).toEqual(["21", "22", "31", "41", "51", "61"].map((variant) => `${variant} gone`))
    expect(later.api).toMatchObject({ listed: [1], members: 1, sixth: 404 })
  })

  it("tells of every store how it ended", async () => {
    const rows = await rowsOf(
      home,
      `select domain, string_agg(r.outcome, ' ' order by r.read_at) as ended from storefront.store_read r
       join storefront.store using (store_id) group by domain order by domain`
    )
    expect(rows).toEqual([
      { domain: bakery, ended: names.map(() => "complete").join(" ") },
      { domain, ended: "complete complete complete complete complete broken_off not_found complete shrunk complete" }
    ])
  })

  it("can be repeated from the archive, with the same products, ids, times and history", async () => {
    const into = folderOfTest()
    const { code, stderr } = await run("larder-ingest", ["rebuild", "--into", into], { LARDER_HOME: home })
    expect(code, stderr).toBe(0)
    const tables = [
      ["store", "store_id"],
      ["product", "product_id"],
      ["collection", "collection_id"],
      ["sighting", "kind, id"],
      ["variant_change", "variant_id, seen_at"],
      ["(select * exclude (seconds) from storefront.store_read)", "run_id, store_id"],
      ["listing", "store_id, place"],
      ["collection_listing", "store_id, place"]
    ] as const
    for (const [table, order] of tables) {
      const sql = table.startsWith("(")
        ? `select to_json(t)::varchar as row from ${table} t order by ${order}`
        : jsonOf(table, order)
      const [before, now] = await Promise.all([rowsOf(home, sql), rowsOf(into, sql)])
      expect(before.length, table).toBeGreaterThan(0)
      expect(now, table).toEqual(before)
    }
  })
})
