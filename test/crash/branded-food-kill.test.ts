import { brandedFoodKills } from "./branded-food-kills.ts"

brandedFoodKills({ rounds: 0 })
