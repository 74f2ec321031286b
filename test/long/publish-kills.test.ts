import { everyMoment, publishKills } from "../crash/publish-kills.ts"

publishKills(everyMoment, 10)
