import { testPublishKills } from "./publish-kills.ts"

testPublishKills(
  ["a new payload is in the archive", "it writes to the copy", "its manifest appears", "ingestion.duckdb changes"],
  { rounds: 0 }
)
