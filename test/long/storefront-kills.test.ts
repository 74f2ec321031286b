import { everyMoment, storefrontKills } from "../crash/storefront-kills.ts"

storefrontKills(everyMoment, 10)
