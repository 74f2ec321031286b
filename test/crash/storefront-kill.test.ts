import { storefrontKills } from "./storefront-kills.ts"

storefrontKills(["its rows are loaded", "its manifest appears", "the catalogue changes"], 0) // while it builds, a server is looked at
