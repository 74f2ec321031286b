import { describe } from "vitest"
import { overMemory } from "./embedded-subjects.ts"
import { histories } from "./histories.ts"

export const historiesInMemory = ({ runs }: { readonly runs: number }) =>
  describe("random histories of the state machine", () => {
    histories(overMemory, { runs, steps: 160 })
  })
