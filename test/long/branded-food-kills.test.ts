import { everyMoment, testBrandedFoodKills } from "../crash/branded-food-kills.ts"

testBrandedFoodKills(everyMoment, { rounds: 10 })
