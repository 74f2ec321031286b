import { testStorefrontKills } from "./storefront-kills.ts"

testStorefrontKills(["its manifest appears"], { rounds: 0 }) // another test kills it while it builds
