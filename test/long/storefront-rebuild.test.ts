/** The archive of seven reads of the same stores gives their whole history back. The short form, of two reads, runs in CI. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { readEach } from "../end-to-end/dairy-reads.ts"
import { names } from "../end-to-end/dairy-recordings.ts"
import { removeFolder, temporaryFolder } from "../end-to-end/ingesting.ts"
import { expectSameStoresRebuilt } from "../end-to-end/rebuilt-stores.ts"

const home = temporaryFolder()
beforeAll(async () => {
  for await (const { name } of readEach(home)) expect(names).toContain(name)
})
afterAll(() => removeFolder(home))

it("rebuilds stores that were read seven times with the same products, ids, times and history", () =>
  expectSameStoresRebuilt(home))
