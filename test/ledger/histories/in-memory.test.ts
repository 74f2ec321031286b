import { enoughRuns } from "./histories.ts"
import { historiesInMemory } from "./in-memory.ts"

historiesInMemory({ runs: enoughRuns })
