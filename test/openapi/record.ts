/**
 * `node test/openapi/record.ts` records what the document promises now, in `promised.json`. What would break clients is
 * recorded only with a note of a new version.
 */

import { openApi, versions } from "@larder/schemas"
import { broken } from "./broken.ts"
import { promised, recordPromises, withoutNote } from "./promised.ts"
import { promisesOf } from "./promises.ts"

const now = promisesOf(openApi())
const refused = withoutNote(broken(promised(), now), promised().version, versions)
if (refused === undefined) recordPromises(now)
else {
  console.error(refused)
  process.exitCode = 1
}
