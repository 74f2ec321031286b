/**
 * Compares each read with the products and prices that are already known for the store, and removes the rows of reads
 * that are not accepted. A feed file may have several rows per product, and rows of drafts, so products are counted
 * only after all rows are staged.
 */
import { readFileSync } from "node:fs"
import { type DuckDb, literal, readLive, storefront } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { Origin } from "../../run/origins/origin.ts"
import type { RunContext } from "../../run/pipeline.ts"
import { thresholds } from "../../run/thresholds.ts"
import type { KnownStore } from "../known-stores.ts"
import { findTableEnd } from "../source/crawl/feed-file.ts"
import { isAccepted, type StoreOutcome } from "../source/crawl/outcome.ts"
import { feedName, makeStoreRead, type ReadStore, type StoreRead } from "../source/crawl/store-read.ts"
import { findLostFields, type LostField } from "./lost-fields.ts"
import { feedTables } from "./stage-rows.ts"

const StagedCounts = Schema.Struct({
  domain: Schema.String,
  products: Schema.Int,
  /** Products that occur only in rejected rows. They count as still listed, and as still having a price. */
  rejected: Schema.Int,
  /** Products that were listed before, also in rejected rows. */
  already_known: Schema.Int,
  /** Variants. A product without variants, or only in rejected rows, counts as one. */
  items: Schema.Int,
  /** Variants without a price, or with a price of 0. */
  items_without_price: Schema.Int
})
type StagedCounts = typeof StagedCounts.Type

const noProducts: Omit<StagedCounts, "domain"> = {
  products: 0,
  rejected: 0,
  already_known: 0,
  items: 0,
  items_without_price: 0
}

const stagedCountsSql = readFileSync(new URL("./found-products.sql", import.meta.url), "utf8")

interface Comparison {
  readonly read: StoreRead
  readonly read_at: string
  readonly current: Omit<StagedCounts, "domain">
  readonly previous: KnownStore
  readonly lostFields: ReadonlyArray<LostField>
  readonly isTruncated: boolean
}

/** Returns the outcome and the detail of a read that is not accepted; undefined if the check passes. */
type Check = (comparison: Comparison) => readonly [StoreOutcome, string] | undefined

const acceptAdvice = "if this is correct, run again with --accept-shrinkage"

/**
 * Known rows with a later time would override the rows of this read, and the store would silently stop changing.
 * Recordings keep their own times, and are not checked.
 */
const checkClock: Check = ({ previous: { fetched_at }, read_at }) => {
  if (fetched_at === null || fetched_at <= Date.parse(read_at)) return undefined
  const last = new Date(fetched_at).toISOString()
  return [
    "outdated",
    `by the clock of this machine it is ${read_at}, but the last read was later, at ${last}: correct the clock`
  ]
}

/** A truncated file may end in an incomplete price, and it is unknown how many products are missing. */
const checkEnd: Check = ({ isTruncated }) => {
  const problem = "The file ends in the middle of a line, which the previous file did not: it was cut off"
  return isTruncated ? ["unreadable", `${problem}; ${acceptAdvice}`] : undefined
}

/** If a needed field disappears from the feed, accepting the read would clear it in all products of the store. */
const checkFields: Check = ({ lostFields }) => {
  const lost = lostFields.find(({ isOptional }) => !isOptional)
  if (lost === undefined) return undefined
  const problem = `no product has the field ${lost.name} any more; before, ${lost.products} had a value in it`
  return ["unreadable", `${problem}; ${acceptAdvice}`]
}

/** The message about optional fields that an accepted read has lost; undefined if it lost none. */
const describeLostOptionalFields = (domain: string, lostFields: ReadonlyArray<LostField>) => {
  const lost = lostFields.filter(({ isOptional }) => isOptional)
  if (lost.length === 0) return undefined
  const fields = lost.map(({ name, products }) => `${name} (before, ${products} had a value in it)`).join(", ")
  return `the feed of ${domain} has lost optional fields, which are null now: ${fields}`
}

const missingShare = ({ items, items_without_price }: Pick<StagedCounts, "items_without_price" | "items">) =>
  items === 0 ? 0 : items_without_price / items
const formatPercent = (share: number) => `${(share * 100).toFixed(1)} %`

/** If many prices disappear at once, the feed has probably changed their format. */
const checkPrices: Check = ({ current, previous }) => {
  const [before, now] = [missingShare(previous), missingShare(current)]
  if (previous.items === 0 || !thresholds.missingPrices.isMetBy((now - before) * 100)) return undefined
  const change = `${formatPercent(now)} instead of ${formatPercent(before)}`
  return [
    "unpriced",
    `${current.items_without_price} of ${current.items} prices are missing or 0, ${change}; ${acceptAdvice}`
  ]
}

/**
 * If none of the known products is found, the next read has to confirm it. A menu may be replaced as a whole, but the
 * address may also lead to another store now.
 */
const checkExchanged: Check = ({ current, previous, read }) =>
  read.has_all_products &&
  current.products > 0 &&
  current.already_known === 0 &&
  thresholds.exchangedProducts.isMetBy(previous.listed) &&
  previous.outcome !== "exchanged"
    ? ["exchanged", `previous reads listed ${previous.listed} products`]
    : undefined

/**
 * A large loss of products is more likely a bad read than a real one, so the next read must confirm it. The limit for a
 * CSV or TSV is lower: nothing else shows that one was truncated at a line end.
 */
const checkShrinkage: Check = ({ current, previous, read }) => {
  const listed = read.products_read + current.rejected
  const { lostProducts, lostRows } = thresholds
  const isWithinLimit = (before: number) =>
    read.table_end === null
      ? !lostProducts.isMetBy(before - listed, before)
      : listed >= before || !lostRows.isMetBy(before - listed, before)
  const matchesReportedCount = read.facts.reported_product_count === read.products_read
  const isConfirmed = previous.outcome === "shrunk" && isWithinLimit(previous.products_read)
  return !read.has_all_products || isWithinLimit(previous.listed) || matchesReportedCount || isConfirmed
    ? undefined
    : ["shrunk", `found ${read.products_read} products, previously ${previous.listed}`]
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
 * Domains of the stores whose CSV or TSV may be truncated in its last cell. A file without a final newline may be
 * complete, so it counts as truncated only if the previous file of the store ended with one, and as complete if the
 * archive has no earlier file. Truncation at a line end cannot be detected here: see `checkShrinkage`.
 */
const findTruncatedFiles = Effect.fnUntraced(function* ({ layout }: RunContext, reads: ReadonlyArray<ReadStore>) {
  const archive = yield* Archive
  const domains = reads.flatMap(({ read, store }) => (read.table_end === "mid_line" ? [store.domain] : []))
  if (domains.length === 0) return new Set<string>()
  const known = yield* readLive(layout, storefront, [], (db) => db.all(LastFile, selectLastFiles(domains)))
  const truncated = new Set<string>()
  for (const { domain, run_id, url } of known) {
    const before = yield* archive.findEarlier(run_id, url)
    if (before === undefined) continue
    const end = yield* Effect.orElseSucceed(findTableEnd(before), () => null) // no longer in the archive
    if (end === "newline") truncated.add(domain)
  }
  return truncated
})

export const checkReads = Effect.fnUntraced(function* (
  run: RunContext,
  reads: ReadonlyArray<ReadStore>,
  previousByDomain: ReadonlyMap<string, KnownStore>
) {
  const origin = yield* Origin
  const counts = new Map((yield* run.staging.db.all(StagedCounts, stagedCountsSql)).map((row) => [row.domain, row]))
  // a store whose kind of feed changes counts as another store
  const findPrevious = ({ read, store }: ReadStore) => {
    const previous = previousByDomain.get(store.domain)
    return read.fetch_status !== "failed" && previous?.kind === store.kind ? previous : undefined
  }
  const comparable = reads.flatMap((item) => {
    const previous = counts.has(item.store.domain) ? findPrevious(item) : undefined
    return previous ? [{ store: item.store, fields_seen: item.read.fields_seen, listed: previous.listed }] : []
  })
  const lostFields = yield* findLostFields(run, comparable)
  const truncated = run.acceptShrinkage ? new Set<string>() : yield* findTruncatedFiles(run, reads)

  const checks = [
    origin.kind === "live" ? [checkClock] : [],
    // the operator accepts what these would reject; a large loss must still be confirmed by the next read
    run.acceptShrinkage ? [] : [checkEnd, checkFields, checkPrices, checkExchanged],
    checkShrinkage
  ].flat()
  const checked = reads.map((item): ReadStore => {
    const { domain } = item.store
    const current = counts.get(domain) ?? noProducts
    const previous = findPrevious(item)
    const read = { ...item.read, products_read: current.products }
    if (previous === undefined) return { ...item, read }
    const shared = { read, read_at: item.read_at, current, previous }
    const comparison = { ...shared, lostFields: lostFields.get(domain) ?? [], isTruncated: truncated.has(domain) }
    const fault = checks.map((check) => check(comparison)).find((result) => result !== undefined)
    return { ...item, read: fault ? makeStoreRead(...fault, { ...read, has_all_products: false }) : read }
  })
  for (const { read, store } of checked) {
    const problem = describeLostOptionalFields(store.domain, lostFields.get(store.domain) ?? [])
    if (problem !== undefined && isAccepted(read)) yield* Effect.logWarning(problem)
  }
  return checked
})

const insertRejectSql = (run_id: string, { read, rows_read, rows_rejected, store }: ReadStore) => `
  insert into ingest.reject
  select 'storefronts', ${literal(feedName(store))}, ${literal(run_id)}, min(raw_sha256), 0,
    ${literal(`this read was not accepted; rows discarded: ${rows_read - rows_rejected}`)},
    ${literal(read.detail ?? read.outcome)}
  from feed.row_count where domain = ${literal(store.domain)}`

/**
 * Deletes the staged rows of reads that are not accepted: reads can be judged only after staging. The rows count as
 * rejected, with one reject for all rows of a store. Returns the reads with these counts.
 */
export const discardUnacceptedReads = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  run_id: string,
  reads: ReadonlyArray<ReadStore>
) {
  const unaccepted = new Set(reads.filter((item) => !isAccepted(item.read) && item.rows_read > 0))
  if (unaccepted.size === 0) return reads
  const staged = [...unaccepted].filter(({ rows_read, rows_rejected }) => rows_read > rows_rejected)
  yield* Effect.forEach(staged, (item) => db.run(insertRejectSql(run_id, item)), { discard: true })
  const domains = [...unaccepted].map(({ store }) => literal(store.domain)).join(", ")
  yield* db.run(feedTables.map((table) => `delete from feed.${table} where domain in (${domains})`).join("; "))
  return reads.map((item) => (unaccepted.has(item) ? { ...item, rows_rejected: item.rows_read } : item))
})
