import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { storesIn } from "../store-list.ts"
import { filesBelow, sampleStores, writeSamples } from "./generate.ts"
import type { Recorded } from "./generator/recordings.ts"

const committed = import.meta.dirname
const isSample = (name: string) =>
  name === "stores.json" || sampleStores.some(({ domain }) => name.startsWith(`${domain}/`))
const samplesBelow = (folder: string) => filesBelow(folder).filter(({ name }) => isSample(name))

describe("sample stores: committed and generated", () => {
  let folder = ""
  let recorded: ReadonlyArray<Recorded> = []
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "larder-sample-stores-"))
    recorded = writeSamples(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("are the same files", () => {
    const names = samplesBelow(folder).map(({ name }) => name)
    assert.deepStrictEqual(
      samplesBelow(committed).map(({ name }) => name),
      names
    )
    for (const name of names)
      assert.isTrue(
        readFileSync(join(committed, name)).equals(readFileSync(join(folder, name))),
        `${name} differs: run generate.ts and commit what it writes`
      )
  })
  it("are three shops of three kinds, under reserved names", () => {
    const kinds = recorded.map(({ store }) => `${store.domain} ${store.kind}`)
    assert.deepStrictEqual(kinds, [
      "meadow-dairy.example shopify",
      "harbour-bakery.example shopify-csv",
      "orchard-pantry.example google-merchant"
    ])
  })
  it("take less than 400 kB", () => {
    const bytes = samplesBelow(committed).reduce((sum, file) => sum + file.bytes, 0)
    assert.isBelow(bytes, 400_000)
  })
  it.effect("are listed in a usable store list", () =>
    Effect.gen(function* () {
      const stores = yield* storesIn("stores.json", readFileSync(join(committed, "stores.json"), "utf8"))
      assert.deepStrictEqual(
        stores,
        recorded.map(({ store }) => store)
      )
    })
  )
  it("have in the README what a right reading gives", () => {
    const readme = readFileSync(join(committed, "README.md"), "utf8")
    const [dairy, bakery, pantry] = recorded.map(({ written }) => written)
    assert.include(readme, `${dairy?.products} products and 4 collections`)
    assert.include(readme, `48 products, ${48 - (bakery?.products ?? 0)} of them drafts, archived or unpublished`)
    assert.include(readme, `${pantry?.rows} items of ${pantry?.products} products`)
    assert.strictEqual(pantry?.duplicates, 1)
  })
})
