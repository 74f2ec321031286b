import { testLakeKills } from "../lake/lake-kills.ts"

testLakeKills(1)
