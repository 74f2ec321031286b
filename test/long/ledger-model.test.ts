/** A million steps over each store. */
import { ledgersAndModels } from "../ledger/model/ledgers-and-models.ts"

ledgersAndModels({ steps: 1_000_000 })
