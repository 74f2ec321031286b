/** Exporting all live data as one file. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeTestFolder, query } from "../end-to-end/ingesting.ts"
import { run } from "../support/programs.ts"
import { findPart, queryRows, useSampleHome } from "./published.ts"

describe("larder-ingest snapshot", () => {
  const counts = `
    select (select count(*) from commodity.observation)::integer as prices, (select count(*) from storefront.last_seen)::integer as seen,
      (select count(*) from branded_food.food)::integer as foods, (select count(*) from ingest.run)::integer as runs`

  it("writes one file that contains all data sets, with the views over ingest", async () => {
    const { call, home } = useSampleHome()
    const to = path.join(makeTestFolder(), "all.duckdb")
    const { code, stderr, stdout } = await call("snapshot", "--to", to)
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.match(stdout, /^\S+all\.duckdb: [\d,]+ KiB, commodities, branded-foods, storefronts of larder-000003\n$/)
    const [live] = await query(home, counts)
    rmSync(home, { recursive: true })
    assert.deepStrictEqual(await queryRows(to, counts), live)
  })

  it("prints one JSON object with --json, and contains the live data after a rollback", async () => {
    const { json } = useSampleHome()
    await json("rollback", "--only", "branded-foods")
    const to = path.join(makeTestFolder(), "some.duckdb")
    const { bytes, ...rest } = await json("snapshot", "--to", to)
    assert.isAbove(bytes, 1_000_000)
    assert.deepStrictEqual(rest, {
      file: to,
      generation: "larder-000004",
      data_sets: ["commodities", "storefronts"]
    })
    const schemas = await queryRows(
      to,
      "select schema_name from duckdb_schemas() where database_name = current_database() and not internal and schema_name <> 'main' order by all"
    )
    assert.deepStrictEqual(
      schemas.map(({ schema_name }) => schema_name),
      ["commodity", "ingest", "storefront"]
    )
  })

  it("replaces no file, and creates no file if it cannot write", async () => {
    const { call } = useSampleHome()
    const folder = makeTestFolder()
    const existing = path.join(folder, "notes.txt")
    writeFileSync(existing, "mine")
    const refused = await call("snapshot", "--to", existing)
    assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
    assert.match(refused.problems, /notes\.txt already exists, and a snapshot does not replace a file\./)
    const nowhere = await call("snapshot", "--to", path.join(folder, "no/such/folder.duckdb"))
    assert.strictEqual(nowhere.code, 1)
    assert.match(nowhere.problems, /No snapshot was written to .+Choose a file in an existing folder/)
    assert.deepStrictEqual(readdirSync(folder), ["notes.txt"])
    assert.strictEqual(readFileSync(existing, "utf8"), "mine")
  })

  it("is refused if nothing is live, and requires --to", async () => {
    const home = makeTestFolder()
    const to = path.join(makeTestFolder(), "none.duckdb")
    const empty = await run("larder-ingest", ["snapshot", "--to", to], { LARDER_HOME: home })
    assert.deepStrictEqual([empty.code, empty.stdout], [1, ""])
    assert.match(empty.problems, /There is no data in .+ yet\. Run: npx larder-ingest$/m)
    assert.isFalse(existsSync(to))
    const unnamed = await run("larder-ingest", ["snapshot"], { LARDER_HOME: home })
    assert.strictEqual(unnamed.code, 2)
    assert.match(unnamed.problems, /--to/)
  })

  it("refuses a part that was changed after it was published", async () => {
    const { call, home } = useSampleHome()
    const part = findPart(home, 3, "commodities")
    chmodSync(part, 0o644)
    const bytes = readFileSync(part)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    writeFileSync(part, bytes)
    const { code, problems } = await call("snapshot", "--to", path.join(makeTestFolder(), "all.duckdb"))
    assert.strictEqual(code, 1)
    assert.match(problems, /commodities\.duckdb of commodities .+ was changed after it was published/)
  })
})
