import { testLakeKills } from "../lake/lake-kills.ts"

testLakeKills({ step: 1 })
