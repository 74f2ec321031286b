/** The short form, of 100 stores, is in test/end-to-end. */
import { it } from "@effect/vitest"
import { expectManyReads } from "../support/pipelines/many-stores.ts"

it.live(
  "reads 1,000 stores side by side, each one request at a time, in memory that does not grow with them",
  () => expectManyReads(1000, 128),
  240_000
)
