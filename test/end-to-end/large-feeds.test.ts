/** Large feeds; `test/long/large-feeds.test.ts` has even larger ones. */
import { it } from "vitest"
import { expectConstantMemory } from "../support/pipelines/large-feeds.ts"

it.each(["google-merchant", "shopify-csv"] as const)("reads 25 MB of a %s feed in constant memory", (kind) =>
  expectConstantMemory(kind, 25)
)
