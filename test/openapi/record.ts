/**
 * `node test/openapi/record.ts` records the document's current promises in `promised.json`. A change that breaks
 * clients is recorded only with a note of a new version.
 */
import { openApi } from "@larder/schemas"
import { versions } from "@larder/schemas/openapi/versions.ts"
import { findBreaks } from "./breaks.ts"
import { explainBreaks, readPromised, writePromised } from "./promised.ts"
import { readPromises } from "./promises.ts"

const promised = readPromised()
const current = readPromises(openApi())
const problem = explainBreaks(findBreaks(promised, current), promised.version, versions)
if (problem === undefined) writePromised(current)
else {
  console.error(problem)
  process.exitCode = 1
}
