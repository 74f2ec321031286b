/**
 * Recordings of the sources that an older mapping read are rebuilt by the next run. `npm run test:all` does the same with the
 * bundled samples of each pipeline, and loads these recordings without a rebuild.
 */
import path from "node:path"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { afterAll, beforeAll, expect, it } from "vitest"
import { ingest } from "../end-to-end/branded-foods.ts"
import { parseRunRecord, removeFolder, replayFolder, temporaryFolder } from "../end-to-end/ingesting.ts"
import { type AnyPipeline, expectRebuilt } from "../end-to-end/mapping-versions.ts"
import { keepOrder, recordings } from "../end-to-end/real-recordings.ts"
import { copySlice } from "../end-to-end/real-slice.ts"
import { recordedStores } from "../end-to-end/storefront-recordings.ts"
import { replayStores, writeFiles } from "../end-to-end/storefronts.ts"
import { writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import type { Ended } from "../support/programs.ts"
import { describeSamples } from "../support/shared-samples.ts"

/** The recordings are replayed twice: before and after the older mapping. Known payloads are not read again. */
const testRecordings = (
  pipeline: AnyPipeline,
  [expected, expectedAgain]: readonly [number, number],
  write: (folder: string) => void,
  replay: (home: string, folder: string) => Promise<Ended>
) => {
  const [home, folder] = [temporaryFolder(), path.join(temporaryFolder(), "recordings")]
  beforeAll(async () => {
    write(folder)
    const first = await replay(home, folder)
    expect(first.code, first.stderr).toBe(expected)
  })
  afterAll(() => [home, path.dirname(folder)].forEach(removeFolder))

  it("are rebuilt by the next run, with the same ids, times and histories", async () => {
    await expectRebuilt(home, pipeline, expectedAgain, async () => {
      const ended = await replay(home, folder)
      expect(parseRunRecord(ended)).toMatchObject({ rows_loaded: 0 })
      return { code: ended.code, output: ended.stderr }
    })
  })
}

describeSamples("gov", "recordings of reports that an older mapping read", () =>
  testRecordings(commodities, [4, 4], (folder) => writeRecordings(folder, recordings(keepOrder)), replayFolder)
)
describeSamples("fdc", "the slice of a release that an older mapping read", () =>
  testRecordings(brandedFoods, [4, 0], copySlice, ingest)
)
describeSamples("storefront", "recordings of stores that an older mapping read", () =>
  testRecordings(
    storefronts,
    [4, 4],
    (folder) => {
      const stores = recordedStores()
      for (const { files } of stores) writeFiles(folder, files)
      writeFiles(folder, { "stores.json": stores.map(({ store }) => store) })
    },
    replayStores
  )
)
