/** A shorter test with 100 stores is in test/end-to-end. */
import { it } from "@effect/vitest"
import { expectManyReads } from "../support/pipelines/many-stores.ts"

it.live(
  "reads 1,000 stores in parallel, with one request at a time to each, in constant memory",
  () => expectManyReads(1000, 128),
  240_000
)
