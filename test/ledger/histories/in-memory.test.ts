import { describe } from "vitest"
import { overMemory } from "./embedded-subjects.ts"
import { histories } from "./histories.ts"

describe("random histories of the state machine", () => {
  histories(overMemory, { runs: 150, steps: 160 })
})
