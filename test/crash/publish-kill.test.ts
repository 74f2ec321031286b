import { publishKills } from "./publish-kills.ts"

publishKills({ rounds: 0 })
