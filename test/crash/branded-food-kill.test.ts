import { brandedFoodKills } from "./branded-food-kills.ts"

brandedFoodKills(
  ["it stages", "that folder holds some files", "that folder has its name", "the database has its name"],
  0
)
