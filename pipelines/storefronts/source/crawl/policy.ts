/** Limits for reading stores: request rate, time and memory. */
import { Context, type Duration, Semaphore } from "effect"
import type { LivePolicy } from "../../../run/origins/live.ts"

const maxPageMegabytes = 32

/** Shopify throttles by client address across all its stores, and concurrent requests more strictly than their rate. */
export const shopifyPool = "shopify"

/**
 * Shopify stores that one process reads concurrently. The others wait, before their time budget begins. Each store gets
 * at most one request a second, so these keep the pool busy, and each still gets about 600 requests in its budget.
 */
export const ShopifyStoreSlots = Context.Reference("larder/pipelines/ShopifyStoreSlots", {
  defaultValue: () => Semaphore.makeUnsafe(12)
})

/** Most stores throttle for minutes without stating for how long. Retries wait 3, 6 and 10 s. */
export const storeLivePolicy: Partial<LivePolicy> = {
  interval: "1 second",
  initialPause: "15 seconds",
  maxPause: "90 seconds",
  maxWait: "8 minutes",
  maxTotalPause: "8 minutes",
  minThrottled: 1,
  throttledInterval: "3 seconds",
  maxAttempts: 4,
  initialBackoff: "3 seconds",
  maxBackoff: "10 seconds",
  idleTimeout: "30 seconds",
  pools: { [shopifyPool]: 4 },
  publicOnly: true
}

/**
 * Megabytes of page text in the memory of one process, from when a page is parsed until its rows are staged. Parsed
 * pages need several times as much, so without this limit a hundred stores with the largest pages would exhaust memory.
 */
export const PageMemory = Context.Reference("larder/pipelines/PageMemory", {
  defaultValue: () => ({ maxMegabytes: maxPageMegabytes, pages: Semaphore.makeUnsafe(maxPageMegabytes) })
})

export interface StorePolicy {
  /** Time for one store, from its first request to its last. When it runs out, the rows read so far are kept. */
  readonly budget: Duration.Input
  /** Bytes after decompression. Pages of 250 products have 2 to 3 MB; the largest files of merchants a few GB. */
  readonly maxPageBytes: number
  readonly maxFileBytes: number
  /** More rejected rows than this fail the whole file. */
  readonly maxRejects: number
  /** A longer robots.txt is treated as one that forbids everything. RFC 9309 requires at least 500 KiB. */
  readonly maxRobotsBytes: number
  /** Longer `Crawl-delay` values are capped to this: otherwise the budget would be used up after a few pages. */
  readonly maxDelay: Duration.Input
  readonly maxCollections: number
}

export const storePolicy: StorePolicy = {
  budget: "30 minutes",
  maxPageBytes: 32 << 20,
  maxFileBytes: 8 * 2 ** 30,
  maxRejects: 100_000,
  maxRobotsBytes: 512 << 10,
  maxDelay: "30 seconds",
  maxCollections: 5000
}
