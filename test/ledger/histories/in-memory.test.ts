import { describe } from "vitest"
import { overMemory } from "./embedded-subjects.ts"
import { histories } from "./histories.ts"

describe("random histories of the state machine", () => {
  histories(overMemory, { runs: 400, steps: 160 })
})
