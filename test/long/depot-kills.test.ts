import { depotKills } from "../crash/depot-kills.ts"

depotKills({ publishing: 1, pulling: 1 })
