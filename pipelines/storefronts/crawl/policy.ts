/** How stores are read: politely, and never without an end. */
import { Context, type Duration, Semaphore } from "effect"
import type { LivePolicy } from "../../run/live-origin.ts"

const mostMegabytes = 32

/** Shopify throttles by the address of whoever asks, over all of its stores, and minds parallel requests more than many. */
export const shopifyLane = "shopify"

/**
 * Stores of Shopify that one process reads at once: the others wait before their time begins. Each is asked once a second, so
 * these keep the lane busy, and each still has some 600 requests within its budget.
 */
export const ShopifyStores = Context.Reference("larder/pipelines/ShopifyStores", {
  defaultValue: () => Semaphore.makeUnsafe(12)
})

/**
 * For the network. A store that throttles mostly does not say for how long, and stays angry for minutes; one that fails for a
 * moment is asked again after 3, 6 and 10 seconds.
 */
export const storeRequests: Partial<LivePolicy> = {
  interval: "1 second",
  firstPause: "15 seconds",
  longestPause: "90 seconds",
  patience: "8 minutes",
  endurance: "8 minutes",
  slowed: "3 seconds",
  tries: 4,
  firstBackOff: "3 seconds",
  longestBackOff: "10 seconds",
  connect: "20 seconds",
  head: "1 minute",
  idle: "30 seconds",
  lanes: { [shopifyLane]: 4 },
  publicOnly: true
}

/**
 * Text of pages that one process has in memory, in megabytes: of each from when it is parsed until its rows are staged. What is
 * parsed takes several times as much, so that a hundred stores with the largest pages would take all there is.
 */
export const PagesInMemory = Context.Reference("larder/pipelines/PagesInMemory", {
  defaultValue: () => ({ most: mostMegabytes, pages: Semaphore.makeUnsafe(mostMegabytes) })
})

export interface StorePolicy {
  /** For one store, from its first request to its last. What was read until then is kept. */
  readonly budget: Duration.Input
  /** For the body of one page: one that drips would hold a turn that other stores wait for. */
  readonly page: Duration.Input
  /** Bytes after decompression. Pages of 250 products have 2 to 3 MB; the largest files of merchants some GB. */
  readonly longestPage: number
  readonly longestFile: number
  /** Rows of one file that cannot be used: with more of them the file is at fault. */
  readonly mostRejects: number
  /** A longer robots.txt counts as one that forbids. RFC 9309 asks for 500 KiB at least. */
  readonly longestRobots: number
  /** Above this, a `Crawl-delay` is shortened to it: the budget would be over within a few pages. */
  readonly longestDelay: Duration.Input
  /** Collections of one store whose members are asked for. */
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
