import { storefrontKills } from "./storefront-kills.ts"

storefrontKills(["its rows are loaded", "the database has its name"], 0) // while it builds, a server is looked at
