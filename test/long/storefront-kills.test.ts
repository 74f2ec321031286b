import { everyMoment, testStorefrontKills } from "../crash/storefront-kills.ts"

testStorefrontKills(everyMoment, { rounds: 10 })
