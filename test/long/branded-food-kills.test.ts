import { brandedFoodKills, everyMoment } from "../crash/branded-food-kills.ts"

brandedFoodKills(everyMoment, 10)
