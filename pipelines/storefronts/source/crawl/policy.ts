/** The limits for reading stores: requests are paced, and every read ends. */
import { Context, type Duration, Semaphore } from "effect"
import type { LivePolicy } from "../../../run/origins/live.ts"

const mostMegabytes = 32

/** Shopify throttles by client address across all its stores, and limits parallel requests more than frequent ones. */
export const shopifyLane = "shopify"

/**
 * Shopify stores that one process reads concurrently. The others wait before their time budget begins. Each store gets
 * one request a second, so these keep the lane busy, and each still has some 600 requests within its budget.
 */
export const ShopifyStores = Context.Reference("larder/pipelines/ShopifyStores", {
  defaultValue: () => Semaphore.makeUnsafe(12)
})

/**
 * The policy for the network. A store that throttles mostly does not say for how long, and keeps throttling for
 * minutes. After a transient failure a request is retried after 3, 6 and 10 seconds.
 */
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
 * Megabytes of page text that one process holds in memory. A page counts from when it is parsed until its rows are
 * staged. Parsed pages take several times as much, so a hundred stores with the largest pages would exhaust the memory.
 */
export const PagesInMemory = Context.Reference("larder/pipelines/PagesInMemory", {
  defaultValue: () => ({ most: mostMegabytes, pages: Semaphore.makeUnsafe(mostMegabytes) })
})

export interface StorePolicy {
  /** For one store, from its first request to its last. Rows read until then are kept. */
  readonly budget: Duration.Input
  /** For the body of one page: a slow one would hold a turn that other stores wait for. */
  readonly page: Duration.Input
  /** Bytes after decompression. Pages of 250 products have 2 to 3 MB; the largest files of merchants some GB. */
  readonly longestPage: number
  readonly longestFile: number
  /** Unusable rows of one file; with more of them the file is at fault. */
  readonly mostRejects: number
  /** A longer robots.txt counts as one that forbids everything. RFC 9309 requires at least 500 KiB. */
  readonly longestRobots: number
  /** A longer `Crawl-delay` is shortened to this: otherwise the budget would end after a few pages. */
  readonly longestDelay: Duration.Input
  /** Collections of one store whose members are requested. */
  readonly mostCollections: number
}

export const storePolicy: StorePolicy = {
  budget: "30 minutes",
  page: "2 minutes",
  longestPage: 32 << 20,
  longestFile: 8 * 2 ** 30,
  mostRejects: 100_000,
  longestRobots: 512 << 10,
  longestDelay: "30 seconds",
  mostCollections: 5000
}
