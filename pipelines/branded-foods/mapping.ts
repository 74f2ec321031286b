/** The hash of the mapping. When it changes, releases that were already loaded are loaded again. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { completedLabel } from "@larder/warehouse/branded-foods/completed-label.ts"
import { foodTable } from "@larder/warehouse/tables/branded_food/data-set.ts"
import { stageJudged, stageTyped } from "./decode/csv/member-tables.ts"
import { labelMembers, members } from "./decode/csv/members.ts"
import { csvFieldNames, stated } from "./normalise/csv-labels.ts"
import { countries, derivations, nutrients, ranks } from "./normalise/dictionaries.ts"
import { loadChunk } from "./normalise/json-labels.ts"
import { labelsFrom } from "./normalise/label.ts"

/** The macros that normalise labels. */
export const normalising = readFileSync(new URL("./normalise/macros.sql", import.meta.url), "utf8")

const nothing = { run_id: "", feed: "", raw_sha256: "", constants: "" }

/** A layout with every column that is read. */
const fullest = labelMembers.map((member) => ({
  member,
  path: "",
  columns: [...members[member].neededColumns, ...members[member].otherColumns],
  unknown: []
}))

/** Covers every text that determines how a row is processed. */
export const mappingHash = createHash("sha256")
  .update(normalising)
  .update(fullest.flatMap((header) => [stageTyped(header), stageJudged(header)]).join("\n"))
  .update(labelsFrom(stated("true", true), csvFieldNames))
  .update(loadChunk(nothing, ""))
  .update(Object.keys(foodTable.record.fields).map(completedLabel).join("\n"))
  .update(JSON.stringify([nutrients, derivations, countries(), ranks]))
  .digest("hex")
