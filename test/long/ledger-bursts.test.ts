import { bursts } from "../ledger/bursts.ts"

bursts({ calls: 2_000, connections: 500 })
