import { bursts } from "./bursts.ts"

bursts({ calls: 300, connections: 150 })
