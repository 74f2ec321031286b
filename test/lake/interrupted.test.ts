import { testLakeKills } from "./lake-kills.ts"

testLakeKills({ step: 11 })
