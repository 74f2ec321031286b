import type { Identify } from "../batch-builder.ts"
import type { FeedStats } from "../feed-stats.ts"
import type { FilePrices } from "../money/file-prices.ts"
import type { FieldValues } from "./fields.ts"

/** An item of a Google feed, in XML or in a table. */
export interface FeedItem {
  readonly fields: FieldValues
  /** Number of the item, or line of the record, from 1. */
  readonly position: number
  /** Currency in the store list, for prices without one. */
  readonly currency: string | null
  readonly prices: Pick<FilePrices, "separator">
  /** When the feed was received, in milliseconds since 1970. */
  readonly read_at: number
  readonly stats: FeedStats
  /** Receives the native id of the product, as soon as it is known. */
  readonly identify: Identify
}
