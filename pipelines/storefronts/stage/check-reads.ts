/**
 * Compares each read with the products and prices that are already known of the store, and removes the rows of reads
 * that are not accepted. A feed file may have several rows per product, and rows of drafts, so products are counted
 * only after all rows are staged.
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

const StagedCounts = Schema.Struct({
  domain: Schema.String,
  products: Schema.Int,
  /** Products that occur only in rejected rows. They count as still listed. */
  rejected: Schema.Int,
  /** Found products that were listed before. */
  already_known: Schema.Int,
  /** Variants. A product without variants counts as one. */
  priceable: Schema.Int,
  /** Variants without a price, or with a price of 0. */
  unpriced: Schema.Int
})
type StagedCounts = typeof StagedCounts.Type

const stagedCountsSql = readFileSync(new URL("./found-products.sql", import.meta.url), "utf8")

const acceptAdvice = "if this is correct, run again with --accept-shrinkage"

/** Maximum increase of the share of missing prices from one read to the next. */
const maxMissingIncrease = 0.1

const missingShare = ({ priceable, unpriced }: Pick<StagedCounts, "unpriced" | "priceable">) =>
  priceable === 0 ? 0 : unpriced / priceable
const formatPercent = (share: number) => `${(share * 100).toFixed(1)} %`

const rejectRead = (read: StoreRead, outcome: StoreOutcome, detail: string) =>
  makeStoreRead(outcome, detail, { ...read, has_all_products: false })

/** If many prices disappear at once, the feed has probably changed their format. */
const checkPrices = (
  read: StoreRead,
  current: StagedCounts | undefined,
  previous: KnownStore | undefined
): StoreRead => {
  if (current === undefined || previous === undefined || previous.priceable === 0) return read
  const [before, now] = [missingShare(previous), missingShare(current)]
  if (now - before <= maxMissingIncrease) return read
  const detail = `${current.unpriced} of ${current.priceable} prices are missing or 0, ${formatPercent(now)} instead of ${formatPercent(before)}; ${acceptAdvice}`
  return rejectRead(read, "unpriced", detail)
}

/** If a field disappears from the feed, accepting the read would clear it in all products of the store. */
const checkFields = (read: StoreRead, lost: string | undefined): StoreRead =>
  lost === undefined ? read : rejectRead(read, "unreadable", `${lost}; ${acceptAdvice}`)

/** With fewer products, it is plausible that a store replaces them all. */
const minListed = 3

/**
 * If none of the known products is found, the next read has to confirm it. A menu may be replaced as a whole, but the
 * address may also lead to another store now.
 */
const checkExchanged = (
  read: StoreRead,
  current: StagedCounts | undefined,
  previous: KnownStore | undefined
): StoreRead => {
  if (!read.has_all_products || current === undefined || previous === undefined) return read
  if (current.already_known > 0 || previous.listed < minListed || previous.outcome === "exchanged") return read
  return rejectRead(read, "exchanged", `previous reads listed ${previous.listed} products`)
}

/**
 * Known rows with a later time would override the rows of this read, and the store would silently stop changing.
 * Recordings keep their own times, and are not checked.
 */
const checkClock = (read: StoreRead, read_at: string, previous: KnownStore | undefined): StoreRead => {
  const last = previous?.fetched_at ?? null
  if (last === null || last <= Date.parse(read_at)) return read
  const detail = `this machine's clock says ${read_at}, but the last read was later, at ${new Date(last).toISOString()}: correct the clock`
  return rejectRead(read, "outdated", detail)
}

/** A truncated file may end in an incomplete price, and it is unknown how many products are missing. */
const markTruncated = (read: StoreRead): StoreRead => {
  const detail = `The file ends in the middle of a line, which the previous file did not: it was cut off; ${acceptAdvice}`
  return rejectRead(read, "unreadable", detail)
}

/**
 * A large loss of products is more likely a bad read than a real one, so the next read must confirm it. Large means
 * more than half of the products, or a fifth of a CSV or TSV: nothing else reveals one that was cut at a line end.
 */
const checkShrinkage = (
  read: StoreRead,
  current: StagedCounts | undefined,
  previous: KnownStore | undefined
): StoreRead => {
  if (previous === undefined || !read.has_all_products) return read
  const listed = read.products_read + (current?.rejected ?? 0)
  const isWithinLimit = (before: number) => (read.table_end === null ? listed * 2 >= before : listed * 5 > before * 4)
  if (isWithinLimit(previous.listed)) return read
  const matchesReportedCount = read.facts.reported_product_count === read.products_read
  const isConfirmed = previous.outcome === "shrunk" && isWithinLimit(previous.found)
  if (matchesReportedCount || isConfirmed) return read
  const detail = `found ${read.products_read} products, previously ${previous.listed}`
  return rejectRead(read, "shrunk", detail)
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
 * Domains of the stores whose CSV or TSV may be cut off in its last cell. A file without a final newline may be
 * complete, so it counts as cut off only if the previous file of the store ended with one, and as complete if the
 * archive has no earlier file. A cut at a line end cannot be detected here: see `checkShrinkage`.
 */
const findTruncatedFiles = Effect.fnUntraced(function* ({ layout }: RunContext, reads: ReadonlyArray<ReadStore>) {
  const archive = yield* Archive
  const domains = reads.flatMap(({ read, store }) => (read.table_end === "mid_line" ? [store.domain] : []))
  if (domains.length === 0) return new Set<string>()
  const known = yield* fromLive(layout, storefront, [], (db) => db.all(LastFile, selectLastFiles(domains)))
  const cut = new Set<string>()
  for (const { domain, run_id, url } of known) {
    const before = yield* archive.earlier(run_id, url)
    if (before === undefined) continue
    const end = yield* Effect.orElseSucceed(findTableEnd(before), () => null) // no longer in the archive
    if (end === "newline") cut.add(domain)
  }
  return cut
})

export const checkReads = Effect.fnUntraced(function* (
  run: RunContext,
  reads: ReadonlyArray<ReadStore>,
  previousByDomain: ReadonlyMap<string, KnownStore>
) {
  const origin = yield* Origin
  const stores = new Map((yield* run.staging.db.all(StagedCounts, stagedCountsSql)).map((row) => [row.domain, row]))
  const comparable = reads.flatMap(({ read, store }) => {
    const previous = previousByDomain.get(store.domain)
    const isComparable = previous?.kind === store.kind && read.fetch_status !== "failed" && stores.has(store.domain)
    return isComparable ? [{ store, fields_seen: read.fields_seen, listed: previous.listed }] : []
  })
  const lost = run.acceptShrinkage ? new Map<string, string>() : yield* findLostFields(run, comparable)
  const cut = run.acceptShrinkage ? new Set<string>() : yield* findTruncatedFiles(run, reads)
  const checkRead = ({ read_at, store: { domain, kind }, ...item }: ReadStore): StoreRead => {
    const [current, earlier] = [stores.get(domain), previousByDomain.get(domain)]
    const read = { ...item.read, products_read: current?.products ?? 0 }
    const previous = earlier?.kind === kind ? earlier : undefined // with another kind of feed, it is another store
    if (read.fetch_status === "failed") return read
    const clockChecked = origin.kind === "live" ? checkClock(read, read_at, previous) : read
    // the operator accepts what the other checks would reject; a large loss still needs the next read to confirm it
    if (run.acceptShrinkage)
      return isAccepted(clockChecked) ? checkShrinkage(clockChecked, current, previous) : clockChecked
    if (isAccepted(clockChecked) && previous !== undefined && cut.has(domain)) return markTruncated(clockChecked)
    const allChecked = checkFields(
      checkPrices(checkExchanged(clockChecked, current, previous), current, previous),
      lost.get(domain)
    )
    return isAccepted(allChecked) ? checkShrinkage(allChecked, current, previous) : allChecked
  }
  return reads.map((item): ReadStore => ({ ...item, read: checkRead(item) }))
})

const insertReject =
  (run_id: string) =>
  ({ read, rows_read, rows_rejected, store }: ReadStore) =>
    `
  insert into ingest.reject
  select 'storefronts', ${literal(feedName(store))}, ${literal(run_id)}, min(raw_sha256), 0,
    ${literal(`this read was not accepted; rows discarded: ${rows_read - rows_rejected}`)},
    ${literal(read.detail ?? read.outcome)}
  from feed.row_count where domain = ${literal(store.domain)}`

/**
 * Deletes the staged rows of reads that are not accepted: reads can be judged only after staging. The rows count as
 * rejected, with one reject that stands for all rows of a store. Returns the reads with these counts.
 */
export const discardRejectedReads = Effect.fnUntraced(function* (
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
