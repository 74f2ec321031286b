import { depotKills } from "../crash/depot-kills.ts"

depotKills(1)
