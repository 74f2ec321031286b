/** `larder-ingest status` over a warehouse that this version of Larder cannot read. */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { useSampleHome } from "./published.ts"

interface Entry {
  readonly definition: string
  readonly schema: number
}
interface Stored {
  readonly format: number
  readonly data_sets: Readonly<Record<string, Entry>>
}

/** Rewrites all manifests, as another version of Larder would have written them. */
const rewriteManifests = (home: string, change: (manifest: Stored) => object) => {
  const folder = path.join(home, "warehouse", "generations")
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name)
    const changed = change(JSON.parse(readFileSync(file, "utf8")))
    chmodSync(file, 0o644)
    writeFileSync(file, JSON.stringify(changed))
  }
}

const replaceFoods = (stated: Partial<Entry>) => (manifest: Stored) => {
  const { "branded-foods": foods } = manifest.data_sets
  return foods === undefined
    ? manifest
    : { ...manifest, data_sets: { ...manifest.data_sets, "branded-foods": { ...foods, ...stated } } }
}

const readStatuses = (stdout: string) => {
  const states: ReadonlyArray<{ readonly pipeline: string; readonly status: string }> = JSON.parse(stdout)
  return states.map(({ pipeline, status }) => `${pipeline}: ${status}`)
}

describe("larder-ingest status", () => {
  it("exits with 1 if an earlier version of Larder wrote the generations, and says how to rebuild them", async () => {
    const { call, home } = useSampleHome()
    rewriteManifests(home, (manifest) => ({ ...manifest, format: 1 }))
    const { code, problems, stdout } = await call("status")
    const remedy = "Move the warehouse aside, and rebuild it from the raw archive with: npx larder-ingest rebuild"
    assert.strictEqual(code, 1)
    assert.match(problems, /^larder-ingest: generations\/000000003\.json in .+ was written by an earlier version/m)
    assert.include(problems, remedy)
    const [first = ""] = stdout.split("\n")
    assert.match(
      first,
      /^unreadable +commodities: generations\/000000003\.json in .+ was written by an earlier version/
    )
    const json = await call("status", "--json")
    assert.strictEqual(json.code, 1)
    assert.deepStrictEqual(readStatuses(json.stdout), [
      "commodities: unreadable",
      "branded-foods: unreadable",
      "storefronts: unreadable"
    ])
  })

  it.each([
    [
      "an earlier version, with other tables",
      { definition: "0".repeat(64) },
      /^larder-ingest: branded-foods was published by another version .+ npx larder-ingest rebuild branded-foods$/m
    ],
    [
      "a newer version",
      { schema: 1000 },
      /^larder-ingest: branded-foods was published with tables of version 1000, .+$/m
    ]
  ])("exits with 1 if one data set is of %s, and names it", async (_, stated, message) => {
    const { call, home } = useSampleHome()
    rewriteManifests(home, replaceFoods(stated))
    const { code, problems, stdout } = await call("status", "--json")
    assert.strictEqual(code, 1)
    assert.match(problems, message)
    assert.deepStrictEqual(readStatuses(stdout), [
      "commodities: sample",
      "branded-foods: unreadable",
      "storefronts: sample"
    ])
  })
})
