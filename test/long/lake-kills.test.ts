import { lakeKills } from "../lake/lake-kills.ts"

lakeKills(1)
