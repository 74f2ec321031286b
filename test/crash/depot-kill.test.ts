import { depotKills } from "./depot-kills.ts"

depotKills({ publishing: 8, pulling: 9 })
