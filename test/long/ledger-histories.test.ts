/** A million overlapping steps over each kind of ledger, between everything else that can happen. Two hours. */
import { historiesInAFolder } from "../ledger/histories/in-a-folder.ts"
import { historiesInMemory } from "../ledger/histories/in-memory.ts"
import { historiesInPostgres } from "../ledger/histories/in-postgres.ts"

const million = { bursts: "many", overlaps: 1_000_000 } as const
historiesInMemory({ runs: 2_000 })
historiesInMemory({ runs: 200, ...million })
historiesInAFolder({ runs: 120, ...million })
historiesInPostgres({ runs: 120, ...million })
