import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { locateFault, parseStoreList } from "./store-list.ts"

const store = { domain: "shop.example.com", name: "Shop", kind: "shopify", location: "https://shop.example.com" }
const read = (list: unknown) => parseStoreList("stores.json", typeof list === "string" ? list : JSON.stringify(list))

describe("the store list", () => {
  it.effect("contains the stores and how they are read", () =>
    Effect.gen(function* () {
      const full = {
        ...store,
        domain: "other.example.com",
        currency: "EUR",
        country: "DE",
        language: "de",
        encoding: "Latin1"
      }
      assert.deepStrictEqual(yield* read([store, full]), [store, full])
    })
  )

  it.effect("may begin with a byte order mark", () =>
    Effect.map(read(`\uFEFF${JSON.stringify([store])}`), (stores) => assert.lengthOf(stores, 1))
  )

  it.effect.each([
    ["text that is not JSON", "[{", /not valid JSON/],
    ["an object", {}, /not a JSON array/],
    ["no store", [], /lists no store/],
    ["an unknown kind", [{ ...store, kind: "etsy" }], /Store 1, kind: expected "shopify"/],
    [
      "a domain with a scheme",
      [store, { ...store, domain: "https://a.example" }],
      /Store 2, domain: expected a host name/
    ],
    ["a domain in capitals", [{ ...store, domain: "Shop.example.com" }], /host name/],
    ["a currency that is a sign", [{ ...store, currency: "$" }], /Store 1, currency: expected an ISO 4217/],
    [
      "an unknown encoding",
      [store, { ...store, encoding: "cp-1251" }],
      /Store 2, encoding: expected the name of an enc/
    ],
    ["an encoding that is not a text", [{ ...store, encoding: 1251 }], /Store 1, encoding: expected string/],
    [
      "a field that is misspelt",
      [{ ...store, curency: "USD" }],
      /Store 1, curency: there is no such field; did you mean currency\?/
    ],
    ["a missing location", [{ domain: "a.example", name: "A", kind: "shopify" }], /Store 1, location: it is missing/],
    ["a number for a store", [store, 3], /Store 2 is not a JSON object/],
    ["a store twice", [store, store], /shop\.example\.com is listed twice/]
  ] as const)("is rejected with %s, and the message names the position", ([, list, expected]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(list))
      assert.match(error.message, expected)
      assert.include(error.message, "stores.json")
    })
  )

  it.effect.each([
    "http://user:secret@shop.example.com/feed.xml",
    "https://secret@shop.example.com",
    "HTTPS:\\\\user:secret@shop.example.com",
    "https:user:secret@shop.example.com",
    " ht\ntps://user:sec\tret@shop.example.com",
    "ftp://user:secret@shop.example.com/feed.xml",
    "user:secret@shop.example.com/feed.xml"
  ])("is rejected with a user or a password in an address, without showing them: %j", (location) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(read([store, { ...store, domain: "other.example.com", location }]))
      assert.match(message, /Store 2, location: it must not name a user or a password/)
      assert.notMatch(message, /secret|sec\tret|user:/)
    })
  )

  it.effect.each(["feeds/a@b.csv", "https://shop.example.com/@shop/feed.xml", "https://shop.example.com?to=a@b"])(
    "may have an @ elsewhere in an address: %s",
    (location) => Effect.map(read([{ ...store, location }]), ([found]) => assert.strictEqual(found?.location, location))
  )

  it.effect("reports all its faults, one per line", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read([{ ...store, kind: 1 }, store, { ...store, name: " " }]))
      assert.deepStrictEqual(error.message.split("\n"), [
        "The store list stores.json cannot be used:",
        '  Store 1, kind: expected "shopify" | "shopify-csv" | "google-merchant" | "woocommerce"',
        "  Store 3, name: expected a name"
      ])
    })
  )
})

describe("the position of the first fault of a JSON text", () => {
  it.each([
    ['[\n  { "domain": }\n]', "line 2 column 15"],
    ['[{ "a": 1, }]', "line 1 column 12"],
    ['[{ "a": tru }]', "line 1 column 12"],
    ["[1, 2", "line 1 column 6"],
    ['[\n"cut', "line 2 column 5"],
    ["[-]", "line 1 column 3"],
    ["no list", "line 1 column 2"],
    ["[] []", "line 1 column 4"],
    ["", "line 1 column 1"]
  ])("of %j is %s", (text, position) => {
    assert.strictEqual(locateFault(text), position)
  })
})
