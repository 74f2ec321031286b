import { testPublishKills } from "./publish-kills.ts"

testPublishKills(["it writes to the copy", "its manifest appears", "ingestion.duckdb changes", "its pack appears"], {
  rounds: 0
})
