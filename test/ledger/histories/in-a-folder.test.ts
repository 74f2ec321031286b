import { historiesInAFolder } from "./in-a-folder.ts"

historiesInAFolder({ runs: 1, steps: 200, bursts: "many" })
