import { publishKills } from "./publish-kills.ts"

publishKills(
  [
    "it has fetched a payload",
    "it writes to the copy",
    "the new generation gets its name",
    "the link has swung",
    "its pack appears"
  ],
  0
)
