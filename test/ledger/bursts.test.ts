import { bursts } from "./bursts.ts"

bursts({ calls: 200, connections: 100 })
