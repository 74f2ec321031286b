/** Three programs publish a hundred times each, twice: about twenty minutes. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { publishersKilled, publishersRace } from "../end-to-end/publishers-race.ts"
import { itLive } from "../support/it-live.ts"

describe("publishers of different data sets at the same time", () => {
  itLive("lose no rows and no runs of each other in a hundred rounds", () => publishersRace(100))
  itLive("leave complete publications or none in a hundred rounds in which about half are killed", () =>
    Effect.gen(function* () {
      const { kills, unpublished } = yield* publishersKilled(100)
      assert.isAbove(unpublished, kills / 10)
      assert.isBelow(unpublished, kills) // some were killed after they had published
    })
  )
})
