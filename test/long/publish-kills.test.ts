import { publishKills } from "../crash/publish-kills.ts"

publishKills({ rounds: 10 })
