/** The mapping as one number: when it changes, releases that were loaded already are loaded again. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { csvFieldNames } from "./csv/labels.ts"
import { derivations, nutrients } from "./dictionaries.ts"
import { loadChunk } from "./json/foods.ts"
import { labelsFrom } from "./label.ts"

/** The macros that labels are normalised with. */
export const normalising = readFileSync(new URL("./sql/normalising.sql", import.meta.url), "utf8")

const nothing = { run_id: "", feed: "", raw_sha256: "", constants: "" }

export const mappingHash = createHash("sha256")
  .update(normalising)
  .update(labelsFrom("release", csvFieldNames))
  .update(loadChunk(nothing, ""))
  .update(JSON.stringify([nutrients, derivations]))
  .digest("hex")
