/** Limits for reading stores: the pace of requests, the time and the memory. */
import { Context, type Duration, Semaphore } from "effect"
import type { LivePolicy } from "../../../run/origins/live.ts"

const maxPageMegabytes = 32

/** Shopify throttles by client address across all its stores, and limits parallel requests more than frequent ones. */
export const shopifyLane = "shopify"

/**
 * Shopify stores that one process reads concurrently. The others wait before their time budget begins. Each store gets
 * one request a second, so these keep the lane busy, and each still has some 600 requests within its budget.
 */
export const ShopifyStores = Context.Reference("larder/pipelines/ShopifyStores", {
  defaultValue: () => Semaphore.makeUnsafe(12)
})

/** A store that throttles mostly does not say for how long, and does so for minutes. Retries wait 3, 6 and 10 s. */
export const storeRequests: Partial<LivePolicy> = {
  interval: "1 second",
  firstPause: "15 seconds",
  maxPause: "90 seconds",
  maxWait: "8 minutes",
  maxTotalPause: "8 minutes",
  slowedInterval: "3 seconds",
  maxTries: 4,
  firstBackOff: "3 seconds",
  maxBackOff: "10 seconds",
  connectTimeout: "20 seconds",
  responseTimeout: "1 minute",
  idleTimeout: "30 seconds",
  lanes: { [shopifyLane]: 4 },
  publicOnly: true
}

/**
 * Megabytes of page text in the memory of one process, from when a page is parsed until its rows are staged. Parsed
 * pages take several times as much, so a hundred stores with the largest pages would exhaust the memory.
 */
export const PagesInMemory = Context.Reference("larder/pipelines/PagesInMemory", {
  defaultValue: () => ({ maxMegabytes: maxPageMegabytes, pages: Semaphore.makeUnsafe(maxPageMegabytes) })
})

export interface StorePolicy {
  /** Time for one store, from its first request to its last. Rows read until then are kept. */
  readonly budget: Duration.Input
  /** Time for the body of one page: other stores wait for a slow one. */
  readonly pageTimeout: Duration.Input
  /** Bytes after decompression. Pages of 250 products have 2 to 3 MB; the largest files of merchants some GB. */
  readonly maxPageBytes: number
  readonly maxFileBytes: number
  /** With more unusable rows than this, the file is at fault. */
  readonly maxRejects: number
  /** A longer robots.txt counts as one that forbids everything. RFC 9309 requires at least 500 KiB. */
  readonly maxRobotsBytes: number
  /** A longer `Crawl-delay` is shortened to this: otherwise the budget would end after a few pages. */
  readonly maxDelay: Duration.Input
  readonly maxCollections: number
}

export const storePolicy: StorePolicy = {
  budget: "30 minutes",
  pageTimeout: "2 minutes",
  maxPageBytes: 32 << 20,
  maxFileBytes: 8 * 2 ** 30,
  maxRejects: 100_000,
  maxRobotsBytes: 512 << 10,
  maxDelay: "30 seconds",
  maxCollections: 5000
}
