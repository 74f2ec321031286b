import { storefrontKills } from "./storefront-kills.ts"

storefrontKills({ rounds: 0 })
