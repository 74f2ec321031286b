import { ledgersAndModels } from "./ledgers-and-models.ts"

ledgersAndModels({ steps: 5_000 })
