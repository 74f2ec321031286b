import { describe } from "vitest"
import { overFolder } from "./embedded-subjects.ts"
import { histories } from "./histories.ts"

export const historiesInAFolder = ({ runs }: { readonly runs: number }) =>
  describe("random histories of the ledger in a folder", () => {
    histories(overFolder("a folder", { followAfter: Number.POSITIVE_INFINITY }), { runs, steps: 300 })
    const often = { followAfter: 5 }
    histories(overFolder("a folder whose derived tables are updated and whose log is reset very often", often), {
      runs,
      steps: 300
    })
  })
