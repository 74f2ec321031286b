import { depotKills } from "./depot-kills.ts"

depotKills({ publishing: 12, pulling: 4 })
