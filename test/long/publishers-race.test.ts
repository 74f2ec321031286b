/** Three programs publish a hundred times each: some ten minutes. */
import { describe } from "@effect/vitest"
import { publishersRace } from "../end-to-end/publishers-race.ts"
import { itWorks } from "../support/it-works.ts"

describe("publishers of different data sets at the same time", () => {
  itWorks("lose no rows and no runs of each other in a hundred rounds", () => publishersRace(100))
})
