import { historiesInAFolder } from "./in-a-folder.ts"

historiesInAFolder({ runs: 1 })
