import { publishKills } from "./publish-kills.ts"

publishKills(["it writes to the copy", "its manifest appears", "ingestion.duckdb changes", "its pack appears"], 0)
