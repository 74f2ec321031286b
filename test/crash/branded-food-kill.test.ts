import { testBrandedFoodKills } from "./branded-food-kills.ts"

testBrandedFoodKills(["it stages", "some files beside it are in the depot", "its manifest appears"], { rounds: 0 })
