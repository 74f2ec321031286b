import { describe } from "vitest"
import { overFolder } from "./embedded-subjects.ts"
import { type HistoryOptions, histories } from "./histories.ts"

export const historiesInAFolder = (options: Partial<HistoryOptions> & Pick<HistoryOptions, "runs">) =>
  describe("random histories of the ledger in a folder", () => {
    const steps = { steps: 300, ...options }
    histories(overFolder("a folder", { groupsBeforeFollow: Number.POSITIVE_INFINITY }), steps)
    const often = overFolder("a folder whose derived tables are updated and whose log is reset very often", {
      groupsBeforeFollow: 5
    })
    histories(often, steps)
  })
