/**
 * Counts the products and prices that each read found, and compares them with what is known of the store. A file has
 * several rows for some products, and rows of drafts, so products are counted after all rows are staged. The rows of
 * reads that are not accepted are removed.
 */
import { readFileSync } from "node:fs"
import { type DuckDb, fromLive, literal, storefront } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { Origin } from "../../run/origins/origin.ts"
import type { RunContext } from "../../run/pipeline.ts"
import type { KnownStore } from "../previous.ts"
import { tableEndOf } from "../source/crawl/feed-file.ts"
import { isTaken } from "../source/crawl/outcome.ts"
import { type Done, feedOf, type StoreRead, storeRead } from "../source/crawl/store-read.ts"
import { lostFields } from "./optional-fields.ts"
import { tables } from "./stage-rows.ts"

const Found = Schema.Struct({
  domain: Schema.String,
  products: Schema.Int,
  /** Other products, listed in rejected rows: they are not withdrawn. */
  rejected: Schema.Int,
  /** The found products that were listed before. */
  known: Schema.Int,
  /** Variants. A product without variants counts as one. */
  priceable: Schema.Int,
  /** Variants without a price, or with a price of 0. */
  unpriced: Schema.Int
})
type Found = typeof Found.Type

const found = readFileSync(new URL("./found-products.sql", import.meta.url), "utf8")

/** For messages: how to publish a store that really lost something. */
const ifReally = "if that is right, run again with --accept-shrinkage"

/** How much the share of missing prices may rise between two reads. */
const mostMissing = 0.1

const shareOf = ({ priceable, unpriced }: Pick<Found, "unpriced" | "priceable">) =>
  priceable === 0 ? 0 : unpriced / priceable
const inPercent = (share: number) => `${(share * 100).toFixed(1)} %`

/** Prices that vanish together have more likely changed their format than been withdrawn. */
const orUnpriced = (read: StoreRead, now: Found | undefined, known: KnownStore | undefined): StoreRead => {
  if (now === undefined || known === undefined || known.priceable === 0) return read
  const [before, missing] = [shareOf(known), shareOf(now)]
  if (missing - before <= mostMissing) return read
  const detail = `${now.unpriced} of ${now.priceable} prices are missing or 0, ${inPercent(missing)} instead of ${inPercent(before)}; ${ifReally}`
  return storeRead("unpriced", detail, { ...read, has_all_products: false })
}

/** A field that disappears from the whole feed would be blanked in every product of the store. */
const orWithout = (read: StoreRead, lost: string | undefined): StoreRead =>
  lost === undefined ? read : storeRead("unreadable", `${lost}; ${ifReally}`, { ...read, has_all_products: false })

/** A store with fewer products may replace them all in a day. */
const leastListed = 3

/**
 * If none of the known products is found, a second read has to confirm it. A menu may be replaced as a whole, but the
 * address may also lead to another store now.
 */
const orExchanged = (read: StoreRead, now: Found | undefined, before: KnownStore | undefined): StoreRead => {
  if (!read.has_all_products || now === undefined || before === undefined || now.known > 0) return read
  if (before.listed < leastListed || before.outcome === "exchanged") return read
  return storeRead("exchanged", `it listed ${before.listed}`, { ...read, has_all_products: false })
}

/**
 * Known rows with a later time would win over the rows of this read, and the store would stop changing without a
 * visible cause. Recordings keep their own times.
 */
const orOutdated = (read: StoreRead, read_at: string, before: KnownStore | undefined): StoreRead => {
  const last = before?.fetched_at ?? null
  if (last === null || last <= Date.parse(read_at)) return read
  const detail = `it is ${read_at} here, and the last read was at ${new Date(last).toISOString()}: set the clock`
  return storeRead("outdated", detail, { ...read, has_all_products: false })
}

/** The last price may be cut off too, and nothing shows how many products are missing. */
const cutOff = (read: StoreRead): StoreRead => {
  const detail = `The file ends within a line, and the last one did not: it is cut off; ${ifReally}`
  return storeRead("unreadable", detail, { ...read, has_all_products: false })
}

/**
 * A store that loses many products in one read was more likely misread, so a second read has to confirm the loss. Many
 * means more than half of its products, or a fifth for a table, since nothing else reveals a table that was cut at a
 * line end.
 */
const orShrunk = (read: StoreRead, now: Found | undefined, known: KnownStore | undefined): StoreRead => {
  if (known === undefined || !read.has_all_products) return read
  const listed = read.products_read + (now?.rejected ?? 0)
  const hasKept = (before: number) => (read.table_end === null ? listed * 2 >= before : listed * 5 > before * 4)
  if (hasKept(known.listed)) return read
  const isSaid = read.facts.reported_product_count === read.products_read
  const isConfirmed = known.outcome === "shrunk" && hasKept(known.found)
  if (isSaid || isConfirmed) return read
  const detail = `there were ${known.listed} products, and ${read.products_read} were found`
  return storeRead("shrunk", detail, { ...read, has_all_products: false })
}

const LastFile = Schema.Struct({ domain: Schema.String, run_id: Schema.String, url: Schema.String })

/** The last run that read something from each store, and all addresses that its feed has had. */
const lastFiles = (domains: ReadonlyArray<string>) => `
  select domain, latest.run_id, file.url
  from (
    select store_id, arg_max(run_id, read_at) filter (fetch_status <> 'failed') as run_id
    from ingest.store_read group by store_id
  ) latest
  join storefront.store using (store_id)
  join (select distinct feed, url from ingest.raw_file where pipeline = 'storefronts') file on feed = 'store/' || domain
  where latest.run_id is not null and domain in (${domains.map(literal).join(", ")})`

/**
 * Domains of the stores whose table may be cut off in its last cell. Such a table ends within a line, but many intact
 * feeds do so too. So it counts as cut off only if the previous file of the store ended with a complete line, and as
 * complete if the archive holds no earlier one. A cut at a line end cannot be detected here: see `orShrunk`.
 */
const cutTables = Effect.fnUntraced(function* ({ layout }: RunContext, done: ReadonlyArray<Done>) {
  const archive = yield* Archive
  const domains = done.flatMap(({ read, store }) => (read.table_end === "within a line" ? [store.domain] : []))
  if (domains.length === 0) return new Set<string>()
  const known = yield* fromLive(layout, storefront, [], (db) => db.all(LastFile, lastFiles(domains)))
  const cut = new Set<string>()
  for (const { domain, run_id, url } of known) {
    const before = yield* archive.earlier(run_id, url)
    if (before === undefined) continue
    const end = yield* Effect.orElseSucceed(tableEndOf(before), () => null) // the archive was cleared
    if (end === "with a line") cut.add(domain)
  }
  return cut
})

export const withProductsRead = Effect.fnUntraced(function* (
  run: RunContext,
  done: ReadonlyArray<Done>,
  known: ReadonlyMap<string, KnownStore>
) {
  const origin = yield* Origin
  const stores = new Map((yield* run.staging.db.all(Found, found)).map((row) => [row.domain, row]))
  const again = done.flatMap(({ read, store }) => {
    const before = known.get(store.domain)
    const isComparable = before?.kind === store.kind && read.fetch_status !== "failed" && stores.has(store.domain)
    return isComparable ? [{ store, fields_seen: read.fields_seen, listed: before.listed }] : []
  })
  const lost = run.acceptShrinkage ? new Map<string, string>() : yield* lostFields(run, again)
  const cut = run.acceptShrinkage ? new Set<string>() : yield* cutTables(run, done)
  const judge = ({ read_at, store: { domain, kind }, ...one }: Done): StoreRead => {
    const [now, stated] = [stores.get(domain), known.get(domain)]
    const read = { ...one.read, products_read: now?.products ?? 0 }
    const before = stated?.kind === kind ? stated : undefined // with another kind of feed it counts as another store
    if (read.fetch_status === "failed") return read
    const timely = origin.kind === "live" ? orOutdated(read, read_at, before) : read
    if (run.acceptShrinkage) return isTaken(timely) ? orShrunk(timely, now, before) : timely
    if (isTaken(timely) && before !== undefined && cut.has(domain)) return cutOff(timely)
    const trusted = orWithout(orUnpriced(orExchanged(timely, now, before), now, before), lost.get(domain))
    return isTaken(trusted) ? orShrunk(trusted, now, before) : trusted
  }
  return done.map((one): Done => ({ ...one, read: judge(one) }))
})

const reject =
  (run_id: string) =>
  ({ read, rows_read, rows_rejected, store }: Done) =>
    `
  insert into ingest.reject
  select 'storefronts', ${literal(feedOf(store))}, ${literal(run_id)}, min(raw_sha256), 0,
    ${literal(`nothing of this read is taken; rows: ${rows_read - rows_rejected}`)},
    ${literal(read.detail ?? read.outcome)}
  from feed.behind where domain = ${literal(store.domain)}`

/**
 * Removes the rows of reads that are not accepted. That a read cannot be trusted shows only after all of it was read,
 * when its rows are staged. They are deleted and count as rejected, with one reject for all rows of a store. Returns the
 * same reads with these counts.
 */
export const withhold = Effect.fnUntraced(function* (db: DuckDb["Service"], run_id: string, done: ReadonlyArray<Done>) {
  const withheld = new Set(done.filter((one) => !isTaken(one.read) && one.rows_read > 0))
  if (withheld.size === 0) return done
  const staged = [...withheld].filter(({ rows_read, rows_rejected }) => rows_read > rows_rejected)
  yield* Effect.forEach(staged.map(reject(run_id)), (sql) => db.run(sql), { discard: true })
  const domains = [...withheld].map(({ store }) => literal(store.domain)).join(", ")
  yield* db.run(tables.map((table) => `delete from feed.${table} where domain in (${domains})`).join("; "))
  return done.map((one) => (withheld.has(one) ? { ...one, rows_rejected: one.rows_read } : one))
})
