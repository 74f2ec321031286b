import { brandedFoodKills } from "./branded-food-kills.ts"

brandedFoodKills(["it stages", "some files beside it are in the depot", "its manifest appears"], 0)
