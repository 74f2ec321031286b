import { depotKills } from "./depot-kills.ts"

depotKills(25)
