import { publishKills } from "./publish-kills.ts"

publishKills(
  [
    "it has fetched a payload",
    "it writes to the copy",
    "its database is in the depot",
    "its manifest appears",
    "the file of its data set changes",
    "ingestion.duckdb changes",
    "its pack appears"
  ],
  0
)
