import { storefrontKills } from "../crash/storefront-kills.ts"

storefrontKills({ rounds: 10 })
