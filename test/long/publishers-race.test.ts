/** Three programs publish a hundred times each, twice: some ten minutes. */
import { describe } from "@effect/vitest"
import { publishersKilled, publishersRace } from "../end-to-end/publishers-race.ts"
import { itWorks } from "../support/it-works.ts"

describe("publishers of different data sets at the same time", () => {
  itWorks("lose no rows and no runs of each other in a hundred rounds", () => publishersRace(100))
  itWorks("leave whole publications or nothing of them in a hundred rounds where about half are killed", () =>
    publishersKilled(100)
  )
})
