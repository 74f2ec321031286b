import { testStorefrontKills } from "./storefront-kills.ts"

testStorefrontKills(["its rows are loaded", "its manifest appears"], { rounds: 0 }) // while it builds, a server is looked at
