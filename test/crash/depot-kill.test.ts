import { depotKills } from "./depot-kills.ts"

depotKills({ publishing: 6, pulling: 3 })
