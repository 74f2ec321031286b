import { brandedFoodKills } from "../crash/branded-food-kills.ts"

brandedFoodKills({ rounds: 10 })
