/** Writing the lake with a command. */
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeTestFolder } from "../end-to-end/ingesting.ts"
import { listLakeTables, readDeltaRows } from "../support/lake/reading.ts"
import { run } from "../support/programs.ts"
import { useSampleHome } from "./published.ts"

describe("larder-ingest lake", () => {
  it("writes the live tables, and then nothing more", async () => {
    const { call, home } = useSampleHome()
    const { code, stdout } = await call("lake")
    assert.strictEqual(code, 0)
    assert.match(stdout, /warehouse\/lake has larder-000003\. New versions of tables: \d\d, [\d,]+ KiB\.\n$/)
    const lake = path.join(home, "warehouse/lake")
    assert.include(listLakeTables(lake), "storefront.variant")
    assert.isAbove((await readDeltaRows(lake, "commodity.observation")).length, 1000)
    const again = await call("lake")
    assert.match(again.stdout, /lake has larder-000003\. New versions of tables: 0, 0 KiB\.\n$/)
  })

  it("prints one JSON object with --json, and needs a generation", async () => {
    const { json } = useSampleHome()
    const { bytes, generation, tables } = await json("lake")
    assert.strictEqual(generation, "larder-000003")
    assert.include(tables, "branded_food.nutrition")
    assert.isAbove(bytes, 1_000_000)
    const { code, problems } = await run("larder-ingest", ["lake"], { LARDER_HOME: makeTestFolder() })
    assert.strictEqual(code, 1)
    assert.match(problems, /There is no data in .* yet\. Run: npx larder-ingest$/m)
  })
})
