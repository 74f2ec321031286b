import { storefrontKills } from "./storefront-kills.ts"

storefrontKills(["its rows are loaded", "its manifest appears"], 0) // while it builds, a server is looked at
