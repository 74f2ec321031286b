import { everyMoment, testPublishKills } from "../crash/publish-kills.ts"

testPublishKills(everyMoment, { rounds: 10 })
