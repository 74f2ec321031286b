import { testDepotKills } from "./depot-kills.ts"

testDepotKills({ publishing: 8, pulling: 14 })
