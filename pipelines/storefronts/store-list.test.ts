import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { storesIn } from "./store-list.ts"

const store = { domain: "shop.example.com", name: "Shop", kind: "shopify", location: "https://shop.example.com" }
const read = (list: unknown) => storesIn("stores.json", typeof list === "string" ? list : JSON.stringify(list))

describe("the store list", () => {
  it.effect("says which stores are read, and how", () =>
    Effect.gen(function* () {
      const full = { ...store, domain: "other.example.com", currency: "EUR", country: "DE", language: "de" }
      assert.deepStrictEqual(yield* read([store, full]), [store, full])
    })
  )

  it.effect("may begin with a byte order mark", () =>
    Effect.map(read(`\uFEFF${JSON.stringify([store])}`), (stores) => assert.lengthOf(stores, 1))
  )

  it.effect.each([
    ["text that is no JSON", "[{", /no JSON/],
    ["an object", {}, /no JSON array/],
    ["no store", [], /lists no store/],
    ["a kind that nobody reads", [{ ...store, kind: "etsy" }], /Store 1: .*kind/],
    ["a domain with a scheme", [store, { ...store, domain: "https://a.example" }], /Store 2: .*host name.*domain/],
    ["a domain in capitals", [{ ...store, domain: "Shop.example.com" }], /host name/],
    ["a currency that is a sign", [{ ...store, currency: "$" }], /ISO 4217.*currency/],
    ["a field that is misspelt", [{ ...store, curency: "USD" }], /curency/],
    ["a missing location", [{ domain: "a.example", name: "A", kind: "shopify" }], /location/],
    ["a store twice", [store, store], /shop\.example\.com stands twice/]
  ] as const)("with %s is refused, with the place", ([, list, expected]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(list))
      assert.match(error.message, expected)
      assert.include(error.message, "stores.json")
    })
  )

  it.effect("tells all its faults at once", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read([{ ...store, kind: 1 }, store, { ...store, name: " " }]))
      assert.match(error.message, /Store 1: .*Store 3: /)
    })
  )
})
