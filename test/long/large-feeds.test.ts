/** Shorter tests with 60 MB are in test/end-to-end. */
import { it } from "vitest"
import { expectConstantMemory } from "../support/pipelines/large-feeds.ts"

it.each(["google-merchant", "shopify-csv"] as const)("reads 200 MB of a %s feed in constant memory", (kind) =>
  expectConstantMemory(kind, 200)
)
