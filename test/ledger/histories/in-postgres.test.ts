import { historiesInPostgres } from "./in-postgres.ts"

historiesInPostgres({ runs: 1 })
