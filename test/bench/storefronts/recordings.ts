/** Recorded stores of any size, for `--replay`. The generator writes synchronously: it has a process of its own. */
import type { Written } from "../../samples/storefronts/written.ts"
import { answered } from "../foods/timed.ts"

export const kinds = ["shopify", "shopify-csv", "google-merchant"] as const
export type Kind = (typeof kinds)[number]

export interface Task {
  /** New, for what is written. */
  readonly folder: string
  readonly kind: Kind
  readonly products: number
}

export interface Made {
  readonly stores: number
  /** What a right reading gives. */
  readonly written: Written
}

export const record = (task: Task) => answered<Made>("../storefronts/write-recordings.ts", task)
