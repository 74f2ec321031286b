/** Makes recordings of any size, for `--replay`, in a separate process, because the generator is synchronous. */
import type { Written } from "../../samples/storefronts/written.ts"
import { runScript } from "../foods/processes.ts"

export const kinds = ["shopify", "shopify-csv", "google-merchant"] as const
export type Kind = (typeof kinds)[number]

export interface Task {
  /** New folder for the recordings. */
  readonly folder: string
  readonly kind: Kind
  readonly products: number
}

export interface WrittenRecordings {
  readonly stores: number
  /** The rows that a correct run loads. */
  readonly written: Written
}

export const record = (task: Task) => runScript<WrittenRecordings>("../storefronts/write-recordings.ts", task)
