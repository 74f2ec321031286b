/**
 * Consecutive reads of the same stores: changes are recorded, missing products are withdrawn, and products that could not be
 * read stay as they were, in the warehouse and in the API. The tests follow one history of seven reads in its order.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ReadState, readAllInTurn } from "./dairy-reads.ts"
import { bakery, creamery, domain, makeId, productId, type ReadName, readNames } from "./dairy-recordings.ts"
import { removeFolder, temporaryFolder } from "./ingesting.ts"
import { type Row, rowsOf } from "./storefronts.ts"

const home = temporaryFolder()
let states: ReadonlyMap<ReadName, ReadState> = new Map()
const stateAfter = (name: ReadName): ReadState => {
  const found = states.get(name)
  if (found === undefined) throw new Error(`${name} was not read`)
  return found
}

beforeAll(async () => {
  states = await readAllInTurn(home)
}, 600_000)
afterAll(() => removeFolder(home))

/** Finds the warehouse row of a product of the dairy by its number. */
const findProduct = ({ products }: ReadState, id: number) =>
  products.find((row) => (row as Row).product_id === productId(id))
const findSighting = ({ sightings }: ReadState, id: number) =>
  sightings.find((row) => (row as Row).id === productId(id)) as Row

describe("a read of stores", () => {
  it("reports every variant as first seen in the first read, and gives predictable ids", () => {
    const { api, outcome, run, newChanges } = stateAfter("first")
    expect(run).toMatchObject({
      outcome: "published",
      rows_read: 14,
      rows_loaded: 14,
      rows_unchanged: 0,
      rows_rejected: 0
    })
    expect(newChanges).toEqual(["11", "21", "22", "31", "41", "51", "61"].map((variant) => `${variant} first_seen 9.5`))
    expect(outcome).toBe("complete complete")
    expect(api).toMatchObject({ listed: [6, 5, 4, 3, 2, 1], members: 6, sixthStatus: 200 })
    expect(api.store).toMatchObject({
      id: makeId("store"),
      fetch_status: "complete",
      product_count: 6,
      collection_count: 1
    })
  })

  it("records only the read itself when nothing but updated_at has changed", () => {
    const [before, now] = [stateAfter("first"), stateAfter("same")]
    expect(now.run).toMatchObject({ outcome: "unchanged", rows_read: 14, rows_loaded: 0, rows_unchanged: 13 })
    expect(now.products).toEqual(before.products)
    expect(now.collections).toEqual(before.collections)
    expect([now.changes, now.newChanges]).toEqual([before.changes, []])
    for (const [index, sighting] of now.sightings.entries()) {
      const earlier = before.sightings[index] as Row
      expect(sighting).toEqual({ ...earlier, last_seen_at: expect.any(String) })
      expect(String((sighting as Row).last_seen_at) > String(earlier.last_seen_at)).toBe(true)
    }
    expect(now.api.store).toEqual({ ...before.api.store, fetched_at: expect.any(String) })
    expect(now.api.store.fetched_at).not.toBe(before.api.store.fetched_at)
  })

  it("reports a new price and a sold-out variant, and publishes only these two products", () => {
    const [before, now] = [stateAfter("same"), stateAfter("changed")]
    expect(now.newChanges).toEqual(["11 changed 8 before 9.5", "22 changed 9.5 sold out"])
    expect(now.changes).toBe(before.changes + 2)
    expect(now.run.rows_loaded).toBe(2)
    for (const id of [3, 4, 5, 6]) expect(findProduct(now, id)).toEqual(findProduct(before, id))
    expect(findProduct(now, 1)).toMatchObject({ price_min: 8, variants: [{ price: 8, compare_at_price: 9.5 }] })
  })

  it("keeps a product listed as it was when its row cannot be used", () => {
    const [before, now] = [stateAfter("first"), stateAfter("same")]
    expect(now.run.rows_rejected).toBe(1)
    expect(now.creamery).toEqual(before.creamery)
    expect(now.creamery.slice(0, 3)).toEqual(["complete complete", 4, 0])
  })

  it("withdraws nothing when it finds less than half, until the next read finds the same", () => {
    expect(stateAfter("changed").creamery.slice(0, 3)).toEqual(["partial shrunk", 4, 0])
    expect(stateAfter("fewer").creamery.slice(0, 3)).toEqual(["complete complete", 1, 3])
  })

  it("withdraws a missing product when it is complete: from lists and collection, and the API returns 404", () => {
    const [before, now] = [stateAfter("changed"), stateAfter("fewer")]
    expect(now.newChanges).toEqual(["22 gone", "61 gone"])
    expect(now.api).toMatchObject({ listed: [5, 4, 3, 2, 1], members: 5, sixthStatus: 404 })
    expect(now.api.store).toMatchObject({ product_count: 5, fetch_status: "complete" })
    expect(findSighting(now, 6)).toEqual({ ...findSighting(before, 6), is_listed: false })
    expect(findProduct(now, 6)).toEqual(findProduct(before, 6)) // analysts keep the row
  })

  it("publishes what it found and withdraws nothing when it breaks off", () => {
    const [before, now] = [stateAfter("fewer"), stateAfter("partial")]
    expect(now.outcome).toBe("partial broken_off")
    expect(now.newChanges).toEqual(["11 changed 7"])
    expect(now.api).toMatchObject({ listed: before.api.listed, members: 5, sixthStatus: 404 })
    expect(now.api.store).toMatchObject({ fetch_status: "partial", product_count: 5, currency: "EUR" })
    expect(findSighting(now, 5)).toEqual(findSighting(before, 5))
    expect(findProduct(now, 5)).toEqual(findProduct(before, 5))
  })

  it("leaves a store as it was when it cannot be read, and still reads the other store", () => {
    const [before, now] = [stateAfter("partial"), stateAfter("failed")]
    expect(now.run).toMatchObject({ outcome: "partial", rows_read: 4, left_out: [{ kind: "unreachable" }] })
    expect(now.outcome).toBe("failed not_found")
    expect([now.newChanges, now.changes]).toEqual([[], before.changes])
    expect(now.products).toEqual(before.products)
    expect(now.collections).toEqual(before.collections)
    expect(now.api).toEqual({ ...before.api, store: { ...before.api.store, fetch_status: "failed" } })
    const { fetched_at, outcome_detail, read_at, run_id } = now.store
    expect(fetched_at).toEqual(before.store.fetched_at)
    expect([read_at, run_id]).not.toEqual([before.store.read_at, before.store.run_id])
    expect(outcome_detail).toMatch(/no recording has https:\/\/dairy\.example\/products\.json/)
  })

  it("lists a returned product with its old id and its first sighting", () => {
    const now = stateAfter("restored")
    expect(now.newChanges).toEqual(["11 changed 8 before 9.5", "22 back 9.5 sold out", "61 back 7.25"])
    expect(now.api).toMatchObject({ listed: [6, 5, 4, 3, 2, 1], members: 6, sixthStatus: 200 })
    expect(findSighting(now, 6)).toMatchObject({
      is_listed: true,
      first_seen_at: findSighting(stateAfter("first"), 6).first_seen_at
    })
  })

  it("records how each read of each store ended", async () => {
    const rows = await rowsOf(
      home,
      `select domain, string_agg(r.outcome, ' ' order by r.read_at) as ended from ingest.store_read r
       join storefront.store using (store_id) group by domain order by domain`
    )
    expect(rows).toEqual([
      { domain: bakery, ended: readNames.map(() => "complete").join(" ") },
      { domain: creamery, ended: "complete complete shrunk complete complete complete complete" },
      { domain, ended: "complete complete complete complete broken_off not_found complete" }
    ])
  })
})
