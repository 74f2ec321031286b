import { describe } from "vitest"
import { overFolder } from "./embedded-subjects.ts"
import { histories } from "./histories.ts"

export const historiesInAFolder = ({ runs }: { readonly runs: number }) =>
  describe("random histories of the ledger in a folder", () => {
    histories(overFolder("a folder", { groupsBeforeFollow: Number.POSITIVE_INFINITY }), { runs, steps: 300 })
    const options = { groupsBeforeFollow: 5 }
    histories(overFolder("a folder whose derived tables are updated and whose log is reset very often", options), {
      runs,
      steps: 300
    })
  })
