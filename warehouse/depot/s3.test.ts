import { describe } from "@effect/vitest"
import { aBucket } from "@larder/test/support/depots/networked.ts"
import { testDepot } from "@larder/test/support/warehouse/depot-contract.ts"
import { Effect } from "effect"

describe("a depot in a bucket", () => {
  testDepot(Effect.map(aBucket, ({ depot }) => depot))
})
