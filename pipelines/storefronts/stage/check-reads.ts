/**
 * Compares the products and prices that each read found with those known of the store, and removes the rows of reads
 * that are not accepted. A file has several rows for some products, and rows of drafts, so products are counted after
 * all rows are staged.
 */
import { readFileSync } from "node:fs"
import { type DuckDb, fromLive, literal, storefront } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { Origin } from "../../run/origins/origin.ts"
import type { RunContext } from "../../run/pipeline.ts"
import type { KnownStore } from "../previous.ts"
import { findTableEnd } from "../source/crawl/feed-file.ts"
import { isAccepted, type StoreOutcome } from "../source/crawl/outcome.ts"
import { feedName, makeStoreRead, type ReadStore, type StoreRead } from "../source/crawl/store-read.ts"
import { findLostFields } from "./optional-fields.ts"
import { feedTables } from "./stage-rows.ts"

const StagedProducts = Schema.Struct({
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
type StagedProducts = typeof StagedProducts.Type

const stagedProductsSql = readFileSync(new URL("./found-products.sql", import.meta.url), "utf8")

const acceptAdvice = "if that is right, run again with --accept-shrinkage"

/** The share of missing prices may rise by this much between two reads. */
const maxMissingRise = 0.1

const missingShare = ({ priceable, unpriced }: Pick<StagedProducts, "unpriced" | "priceable">) =>
  priceable === 0 ? 0 : unpriced / priceable
const formatPercent = (share: number) => `${(share * 100).toFixed(1)} %`

const distrust = (read: StoreRead, outcome: StoreOutcome, detail: string) =>
  makeStoreRead(outcome, detail, { ...read, has_all_products: false })

/** Prices that vanish together have more likely changed their format than been withdrawn. */
const checkPrices = (read: StoreRead, now: StagedProducts | undefined, known: KnownStore | undefined): StoreRead => {
  if (now === undefined || known === undefined || known.priceable === 0) return read
  const [before, missing] = [missingShare(known), missingShare(now)]
  if (missing - before <= maxMissingRise) return read
  const detail = `${now.unpriced} of ${now.priceable} prices are missing or 0, ${formatPercent(missing)} instead of ${formatPercent(before)}; ${acceptAdvice}`
  return distrust(read, "unpriced", detail)
}

/** A field that disappears from the whole feed would be emptied in every product of the store. */
const checkFields = (read: StoreRead, lost: string | undefined): StoreRead =>
  lost === undefined ? read : distrust(read, "unreadable", `${lost}; ${acceptAdvice}`)

/** A store with fewer products may replace them all in a day. */
const minListed = 3

/**
 * If none of the known products is found, a second read has to confirm it. A menu may be replaced as a whole, but the
 * address may also lead to another store now.
 */
const checkExchanged = (
  read: StoreRead,
  now: StagedProducts | undefined,
  before: KnownStore | undefined
): StoreRead => {
  if (!read.has_all_products || now === undefined || before === undefined || now.known > 0) return read
  if (before.listed < minListed || before.outcome === "exchanged") return read
  return distrust(read, "exchanged", `it listed ${before.listed}`)
}

/**
 * Known rows with a later time would win over the rows of this read, and the store would stop changing without a
 * visible cause. Recordings keep their own times.
 */
const checkClock = (read: StoreRead, read_at: string, before: KnownStore | undefined): StoreRead => {
  const last = before?.fetched_at ?? null
  if (last === null || last <= Date.parse(read_at)) return read
  const detail = `it is ${read_at} here, and the last read was at ${new Date(last).toISOString()}: set the clock`
  return distrust(read, "outdated", detail)
}

/** The last price may be cut off too, and the number of missing products is unknown. */
const markTruncated = (read: StoreRead): StoreRead => {
  const detail = `The file ends within a line, and the last one did not: it is cut off; ${acceptAdvice}`
  return distrust(read, "unreadable", detail)
}

/**
 * A store that loses many products in one read was more likely misread, so a second read has to confirm the loss. Many
 * means more than half of its products, or a fifth for a table, since nothing else reveals a table that was cut at a
 * line end.
 */
const checkShrinkage = (read: StoreRead, now: StagedProducts | undefined, known: KnownStore | undefined): StoreRead => {
  if (known === undefined || !read.has_all_products) return read
  const listed = read.products_read + (now?.rejected ?? 0)
  const hasKept = (before: number) => (read.table_end === null ? listed * 2 >= before : listed * 5 > before * 4)
  if (hasKept(known.listed)) return read
  const isSaid = read.facts.reported_product_count === read.products_read
  const isConfirmed = known.outcome === "shrunk" && hasKept(known.found)
  if (isSaid || isConfirmed) return read
  const detail = `there were ${known.listed} products, and ${read.products_read} were found`
  return distrust(read, "shrunk", detail)
}

const LastFile = Schema.Struct({ domain: Schema.String, run_id: Schema.String, url: Schema.String })

/** The last run that read something from each store, and all addresses that its feed has had. */
const selectLastFiles = (domains: ReadonlyArray<string>) => `
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
 * complete if the archive has no earlier one. A cut at a line end cannot be detected here: see `checkShrinkage`.
 */
const findTruncatedTables = Effect.fnUntraced(function* ({ layout }: RunContext, reads: ReadonlyArray<ReadStore>) {
  const archive = yield* Archive
  const domains = reads.flatMap(({ read, store }) => (read.table_end === "within a line" ? [store.domain] : []))
  if (domains.length === 0) return new Set<string>()
  const known = yield* fromLive(layout, storefront, [], (db) => db.all(LastFile, selectLastFiles(domains)))
  const cut = new Set<string>()
  for (const { domain, run_id, url } of known) {
    const before = yield* archive.earlier(run_id, url)
    if (before === undefined) continue
    const end = yield* Effect.orElseSucceed(findTableEnd(before), () => null) // the archive was cleared
    if (end === "with a line") cut.add(domain)
  }
  return cut
})

export const checkReads = Effect.fnUntraced(function* (
  run: RunContext,
  reads: ReadonlyArray<ReadStore>,
  known: ReadonlyMap<string, KnownStore>
) {
  const origin = yield* Origin
  const stores = new Map((yield* run.staging.db.all(StagedProducts, stagedProductsSql)).map((row) => [row.domain, row]))
  const comparable = reads.flatMap(({ read, store }) => {
    const before = known.get(store.domain)
    const isComparable = before?.kind === store.kind && read.fetch_status !== "failed" && stores.has(store.domain)
    return isComparable ? [{ store, fields_seen: read.fields_seen, listed: before.listed }] : []
  })
  const lost = run.acceptShrinkage ? new Map<string, string>() : yield* findLostFields(run, comparable)
  const cut = run.acceptShrinkage ? new Set<string>() : yield* findTruncatedTables(run, reads)
  const checkRead = ({ read_at, store: { domain, kind }, ...item }: ReadStore): StoreRead => {
    const [now, earlier] = [stores.get(domain), known.get(domain)]
    const read = { ...item.read, products_read: now?.products ?? 0 }
    const before = earlier?.kind === kind ? earlier : undefined // with another kind of feed it counts as another store
    if (read.fetch_status === "failed") return read
    const timely = origin.kind === "live" ? checkClock(read, read_at, before) : read
    if (run.acceptShrinkage) return isAccepted(timely) ? checkShrinkage(timely, now, before) : timely
    if (isAccepted(timely) && before !== undefined && cut.has(domain)) return markTruncated(timely)
    const trusted = checkFields(checkPrices(checkExchanged(timely, now, before), now, before), lost.get(domain))
    return isAccepted(trusted) ? checkShrinkage(trusted, now, before) : trusted
  }
  return reads.map((item): ReadStore => ({ ...item, read: checkRead(item) }))
})

const insertReject =
  (run_id: string) =>
  ({ read, rows_read, rows_rejected, store }: ReadStore) =>
    `
  insert into ingest.reject
  select 'storefronts', ${literal(feedName(store))}, ${literal(run_id)}, min(raw_sha256), 0,
    ${literal(`this read was not accepted; rows left out: ${rows_read - rows_rejected}`)},
    ${literal(read.detail ?? read.outcome)}
  from feed.behind where domain = ${literal(store.domain)}`

/**
 * Removes the rows of reads that are not accepted, which are known only after everything was staged. They count as
 * rejected, with one reject for all rows of a store. Returns the reads with these counts.
 */
export const removeUnaccepted = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  run_id: string,
  reads: ReadonlyArray<ReadStore>
) {
  const unaccepted = new Set(reads.filter((item) => !isAccepted(item.read) && item.rows_read > 0))
  if (unaccepted.size === 0) return reads
  const staged = [...unaccepted].filter(({ rows_read, rows_rejected }) => rows_read > rows_rejected)
  yield* Effect.forEach(staged.map(insertReject(run_id)), (sql) => db.run(sql), { discard: true })
  const domains = [...unaccepted].map(({ store }) => literal(store.domain)).join(", ")
  yield* db.run(feedTables.map((table) => `delete from feed.${table} where domain in (${domains})`).join("; "))
  return reads.map((item) => (unaccepted.has(item) ? { ...item, rows_rejected: item.rows_read } : item))
})
