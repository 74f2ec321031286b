/** About fifteen minutes. */
import { historiesInAFolder } from "../ledger/histories/in-a-folder.ts"
import { historiesInMemory } from "../ledger/histories/in-memory.ts"
import { historiesInPostgres } from "../ledger/histories/in-postgres.ts"

historiesInMemory({ runs: 2_000 })
historiesInAFolder({ runs: 200 })
historiesInPostgres({ runs: 200 })
