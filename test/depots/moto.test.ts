import { randomUUID } from "node:crypto"
import { assert, describe } from "@effect/vitest"
import { proven } from "@larder/warehouse/depot/proven.ts"
import { s3Depot } from "@larder/warehouse/depot/s3.ts"
import { Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import { withClient } from "../support/depots/networked.ts"
import { itWorks } from "../support/it-works.ts"
import { isDepot } from "../support/warehouse/depot-contract.ts"
import { startMoto } from "./moto.ts"

describe("a depot in moto", () => {
  let moto: Awaited<ReturnType<typeof startMoto>>
  beforeAll(async () => {
    moto = await startMoto()
  })
  afterAll(() => moto?.stop())

  /** Each test has a prefix of its own. */
  const aDepot = Effect.suspend(() =>
    withClient(s3Depot({ ...moto.settings, prefix: `it's + ${randomUUID()}/larder` }))
  )

  isDepot(aDepot)

  itWorks("is proven", () =>
    Effect.gen(function* () {
      const depot = yield* aDepot
      yield* proven(depot)
      assert.deepStrictEqual(yield* depot.list("proofs/"), [])
    })
  )
})
