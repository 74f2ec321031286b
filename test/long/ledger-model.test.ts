/** A million steps over each store: six to ten minutes each on two busy cores. */
import { ledgersAndModels } from "../ledger/model/ledgers-and-models.ts"

ledgersAndModels({ steps: 1_000_000 })
