/** Stages what a payload states: its rates, its rejects, and the payload itself. */
import { createHash } from "node:crypto"
import { rateTable, rawFileTable, rejectTable } from "@larder/warehouse"
import { Effect } from "effect"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import type { RunContext } from "../../run/pipeline.ts"
import { mappingVersion, type normalise } from "../normalise/rates.ts"
import { feed } from "../source/daily-file.ts"

const mapping_sha256 = createHash("sha256").update(String(mappingVersion)).digest("hex")

export const stageRates = Effect.fnUntraced(function* (
  { run_id, staging }: RunContext,
  { bytes, content_type, fetched_at, sha256: raw_sha256, url }: FetchedPayload,
  { rates, rejects }: ReturnType<typeof normalise>,
  rows_read: number
) {
  const about = { pipeline: "exchange-rates", feed, run_id, raw_sha256 }
  yield* staging.add(
    rateTable,
    rates.map((rate) => ({ ...rate, rate_text: rate.rate, run_id, raw_sha256, fetched_at }))
  )
  yield* staging.add(
    rejectTable,
    rejects.map((reject) => ({ ...about, ...reject }))
  )
  yield* staging.add(rawFileTable, [
    { ...about, url, fetched_at, bytes, content_type, rows_read, rows_rejected: rejects.length, mapping_sha256 }
  ])
})
