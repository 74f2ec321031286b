import { testDepotKills } from "../crash/depot-kills.ts"

testDepotKills({ publishing: 1, pulling: 1 })
