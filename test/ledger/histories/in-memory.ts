import { describe } from "vitest"
import { overMemory } from "./embedded-subjects.ts"
import { type HistoryOptions, histories } from "./histories.ts"

export const historiesInMemory = (options: Partial<HistoryOptions> & Pick<HistoryOptions, "runs">) =>
  describe("random histories of the state machine", () => {
    histories(overMemory, { steps: 160, ...options })
  })
