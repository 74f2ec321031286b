/** A rebuild from the archive of seven reads restores the complete history of stores. A shorter test with two reads runs in CI. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { readEach } from "../end-to-end/dairy-reads.ts"
import { readNames } from "../end-to-end/dairy-recordings.ts"
import { removeFolder, temporaryFolder } from "../end-to-end/ingesting.ts"
import { expectSameStoresRebuilt } from "../end-to-end/rebuilt-stores.ts"

const home = temporaryFolder()
beforeAll(async () => {
  for await (const { name } of readEach(home)) expect(readNames).toContain(name)
})
afterAll(() => removeFolder(home))

it("rebuilds stores that were read seven times with the same products, ids, times and history", () =>
  expectSameStoresRebuilt(home))
