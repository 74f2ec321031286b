import { historiesInPostgres } from "./in-postgres.ts"

historiesInPostgres({ runs: 1, steps: 200, bursts: "many" })
