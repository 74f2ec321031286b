import { testBrandedFoodKills } from "./branded-food-kills.ts"

testBrandedFoodKills(["some of its sidecar files are in the depot", "its manifest appears"], { rounds: 0 })
