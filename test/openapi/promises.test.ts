import type { OpenApiDocument, SchemaObject } from "@larder/schemas/openapi/types.ts"
import { type VersionNote, versions } from "@larder/schemas/openapi/versions.ts"
import { openApi } from "@larder/schemas/openapi.ts"
import { describe, expect, it } from "vitest"
import { broken } from "./broken.ts"
import { promised, toRecord, withoutNote } from "./promised.ts"
import { promisesOf } from "./promises.ts"

const document = openApi()

describe("what was promised to clients", () => {
  it("is kept, or a note of a new version says what broke", () => {
    expect(withoutNote(broken(promised(), promisesOf(document)), promised().version, versions)).toBeUndefined()
  })

  it("is on record as the document has it", () => {
    expect(promisesOf(document), toRecord).toEqual(promised())
  })

  it("has notes from the newest to the first, and what breaks raises the first number", () => {
    const numbers = versions.map(({ version }) => version.split(".").map(Number))
    for (const [index, { breaking, date }] of versions.entries()) {
      expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
      const [now = [], before] = [numbers[index], numbers[index + 1]]
      if (before === undefined) continue
      const raised = now.findIndex((number, place) => number !== before[place])
      expect(now[raised], "the newest comes first").toBeGreaterThan(before[raised] ?? 0)
      expect(raised === 0, "a new first number, if and only if something breaks").toBe(breaking)
      expect(date >= (versions[index + 1]?.date ?? "")).toBe(true)
    }
  })
})

/** The document with the values at these places set, or taken out where there is none. */
const changed = (...changes: ReadonlyArray<readonly [place: string, value?: unknown]>): OpenApiDocument => {
  const copy = structuredClone(document)
  for (const [place, value] of changes) {
    const names = place.split(" ")
    const last = names.pop() ?? ""
    const inside = names.reduce<unknown>((node, name) => Object(node)[name], copy)
    if (typeof inside !== "object" || inside === null) throw new Error(`there is no ${place} in the document`)
    if (Array.isArray(inside) && value === undefined) inside.splice(Number(last), 1)
    else if (value === undefined) Reflect.deleteProperty(inside, last)
    else Reflect.set(inside, last, value)
  }
  return copy
}
const breaksOf = (after: OpenApiDocument, before = document) => broken(promisesOf(before), promisesOf(after))

const stores = "paths /v1/stores get"
const [query, , country, limit] = [0, 1, 2, 3].map((place) => `${stores} parameters ${place}`)
const store = "components schemas Store properties"
const { "200": okay, "400": refused } = document.paths["/v1/stores"]?.get.responses ?? {}

describe("a change breaks clients", () => {
  it.each<[string, string, unknown, string]>([
    ["a path that is gone", "paths /v1/stores", undefined, "GET /v1/stores is gone"],
    ["another name", `${stores} operationId`, "findStores", "its operationId was searchStores and is findStores"],
    ["another scope", `${stores} x-scope`, "get-store", "its scope was search-stores and is get-store"],
    ["a higher price", `${stores} x-credits`, 101, "its price was 100 credits and is 101"],
    ["a parameter that is gone", query ?? "", undefined, "parameter query query is gone"],
    ["a parameter that is required now", `${query} required`, true, "parameter query query: is required now"],
    ["another default", `${limit} schema default`, 20, "parameter query limit: its default was 50 and is 20"],
    ["a maximum", `${limit} schema maximum`, 200, "parameter query limit: takes nothing more that is more than 200"],
    ["a higher minimum", `${limit} schema minimum`, 2, "parameter query limit: takes nothing more that is less than 2"],
    [
      "another form",
      `${country} schema pattern`,
      "^[A-Z]{2}$",
      "parameter query country: takes nothing more that is of another pattern than ^[A-Z]{2}$"
    ],
    ["another type", `${limit} schema type`, "boolean", "parameter query limit: takes nothing more that is integer"],
    [
      "a list of values",
      `${query} schema enum`,
      ["bakery"],
      'parameter query query: takes nothing more that is none of ["bakery"]'
    ],
    [
      "a longer text",
      `${query} schema minLength`,
      3,
      "parameter query query: takes nothing more that is shorter than 3"
    ],
    [
      "a shorter text",
      `${query} schema maxLength`,
      9,
      "parameter query query: takes nothing more that is longer than 9"
    ],
    ["a status of its own for calls that succeed", `${stores} responses 202`, okay, "202 is new"],
    ["a redirect", `${stores} responses 307`, refused, "307 is new"],
    ["a rate limit", `${stores} responses 429`, refused, "429 is new"],
    [
      "another media type",
      `${stores} responses 200 content text/csv`,
      { schema: { type: "string" } },
      "200: it may be text/csv now"
    ],
    ["other keys", `${stores} security`, [{ key: [], tenant: [] }], "a key is not taken as http bearer any more"],
    [
      "a header that is gone",
      `${stores} responses 200 headers X-Request-Id`,
      undefined,
      "200: header X-Request-Id is gone"
    ]
  ])("%s", (_, place, value, what) => {
    const where = place.startsWith(stores) ? `GET /v1/stores: ${what}` : what
    expect(breaksOf(changed([place, value]))).toEqual([where])
  })

  it("a new parameter that is required", () => {
    const parameter = { name: "kind", in: "query", required: true, description: "", schema: { type: "string" } }
    expect(breaksOf(changed([`${stores} parameters 5`, parameter]))).toEqual([
      "GET /v1/stores: parameter query kind is new and required"
    ])
  })

  it.each<[string, string, unknown, string]>([
    ["a field that is gone", `${store} name`, undefined, "name is gone"],
    [
      "a field that may be null",
      `${store} name`,
      { anyOf: [{ type: "string" }, { type: "null" }] },
      "name: may be null now"
    ],
    ["a field of another type", `${store} name`, { type: "integer" }, "name: may be integer now"],
    ["an integer with a fraction", `${store} product_count type`, "number", "product_count: may be number now"],
    ["a count below 0", `${store} product_count minimum`, undefined, "product_count: may be less than 0 now"],
    ["a new value of a closed list", `${store} fetch_status enum 3`, "stale", 'fetch_status: may be "stale" now'],
    [
      "a list that is open now",
      `${store} fetch_status enum`,
      undefined,
      'fetch_status: may be none of ["complete","partial","failed"] now'
    ],
    [
      "an id of another form",
      `${store} id pattern`,
      "^store_",
      "id: may be of another pattern than ^platform_store_ now"
    ]
  ])("%s, on each path where the record stands", (_, place, value, what) => {
    expect(breaksOf(changed([place, value]))).toEqual([
      `GET /v1/stores: 200: field data[].${what}`,
      `GET /v1/stores/{id}: 200: field data.${what}`
    ])
  })

  it("a field that is not required any more, deep in a record", () => {
    const after = changed(["components schemas StoreImage required 0"])
    expect(breaksOf(after)).toContain("GET /v1/products/{id}: 200: field data.images[].src: may be absent now")
    expect(breaksOf(after).length).toBe(4)
  })

  it.each<[string, string, unknown, string]>([
    ["a header of another type", "X-Data-Version schema type", "integer", "X-Data-Version: may be integer now"],
    ["a header that counts below 0", "Retry-After schema minimum", undefined, "Retry-After: may be less than 0 now"],
    ["a header that may be absent", "X-Request-Id required", false, "X-Request-Id: may be absent now"]
  ])("%s", (_, place, value, what) => {
    expect(breaksOf(changed([`components headers ${place}`, value]))).toEqual([`header ${what}`])
  })

  it("another server", () => {
    expect(breaksOf(changed(["servers", [{ url: "https://other.example.com" }]]))).toEqual(["the server / is gone"])
  })

  it("another type of error, another shape of errors, another way to show a key", () => {
    const fault = { fault: { value: { error: { type: "fault", message: "" } } } }
    const after = changed(["components responses Internal content application/json examples", fault])
    expect(breaksOf(after)).toHaveLength(Object.keys(document.paths).length)
    expect(breaksOf(after)).toContain("GET /v1/stores: 500: its type may be fault now")
    expect(breaksOf(changed(["components schemas Error properties error required 0"]))).toEqual([
      "every error: field error.type: may be absent now"
    ])
    const keys = breaksOf(changed(["components securitySchemes key scheme", "basic"]))
    expect(keys).toHaveLength(Object.keys(document.paths).length)
    expect(keys).toContain("GET /v1/stores: a key is not taken as http bearer any more")
    expect(breaksOf(changed(["security", [{ key: [], tenant: [] }]]))).toEqual(keys)
  })

  it.each<[string, SchemaObject, SchemaObject, string]>([
    [
      "an open list beside a closed one",
      { type: "string", enum: ["a"] },
      { type: "string" },
      'may be none of ["a"] now'
    ],
    [
      "a text beside one of a form",
      { type: "string", pattern: "^a" },
      { type: "string" },
      "may be of another pattern than ^a now"
    ],
    [
      "a text beside one of another form",
      { type: "string", pattern: "^a" },
      { type: "string", pattern: "^b" },
      "may be of another pattern than ^a now"
    ],
    ["an integer beside one from 0 on", { type: "integer", minimum: 0 }, { type: "integer" }, "may be less than 0 now"],
    [
      "a smaller integer beside one",
      { type: "integer", minimum: 0 },
      { type: "integer", minimum: -5 },
      "may be less than 0 now"
    ],
    [
      "a larger integer beside one",
      { type: "integer", maximum: 9 },
      { type: "integer", maximum: 10 },
      "may be more than 9 now"
    ]
  ])("%s", (_, before, beside, what) => {
    const was = changed([`${store} name`, { anyOf: [before, { type: "null" }] }])
    for (const anyOf of [
      [before, beside],
      [beside, before]
    ]) {
      expect(breaksOf(changed([`${store} name`, { anyOf }]), was)).toEqual([
        `GET /v1/stores: 200: field data[].name: ${what}`,
        `GET /v1/stores/{id}: 200: field data.name: ${what}`
      ])
    }
  })

  it.each<[string, SchemaObject, SchemaObject, string]>([
    ["a longer list", { maxItems: 3 }, { maxItems: 4 }, "may be of more items than 3 now"],
    ["an empty list", { minItems: 1 }, {}, "may be of fewer items than 1 now"]
  ])("%s", (_, before, after, what) => {
    const listed = (limits: SchemaObject) =>
      changed([`${store} categories`, { type: "array", items: { type: "string" }, ...limits }])
    expect(breaksOf(listed(after), listed(before))).toContain(`GET /v1/stores: 200: field data[].categories: ${what}`)
  })
})

describe("what nobody compares is an error, so that no change of it goes unseen:", () => {
  it.each<[string, string, unknown, RegExp]>([
    ["a bound", `${limit} schema exclusiveMaximum`, 10, /^the parameter limit has exclusiveMaximum, /],
    ["a step", `${limit} schema multipleOf`, 10, /has multipleOf/],
    ["a constant", `${query} schema const`, "x", /has const/],
    ["an exception", `${query} schema not`, { pattern: "x" }, /has not/],
    ["parts of a parameter", `${query} schema items`, { type: "string" }, /^the parameter query has items/],
    ["alternatives of another kind", `${store} name`, { oneOf: [{ type: "string" }] }, /^data\[\]\.name has oneOf/],
    ["a limit beside alternatives", `${store} name`, { anyOf: [{ type: "string" }], minLength: 1 }, /has minLength/],
    ["anything at all", `${store} name`, {}, /^data\[\]\.name has no type/],
    ["a body that is sent", `${stores} requestBody`, { required: true }, /^GET \/v1\/stores has requestBody/],
    ["another method", "paths /v1/stores post", {}, /^\/v1\/stores has post/],
    ["how lists are sent", `${query} explode`, false, /^the parameter query has explode/],
    ["where answers lead", `${stores} responses 200 links`, {}, /^the answer 200 has links/],
    [
      "a header of two kinds",
      `${stores} responses 200 headers X-Request-Id`,
      { $ref: "#/components/headers/Retry-After" },
      /^The header X-Request-Id of an answer refers to /
    ],
    [
      "an error of another shape",
      `${stores} responses 400 content application/json schema`,
      { type: "string" },
      /^The answer 400 is no Error/
    ]
  ])("%s", (_, place, value, message) => {
    expect(() => promisesOf(changed([place, value]))).toThrow(message)
  })
})

describe("a change breaks nobody", () => {
  const limitSchema = document.paths["/v1/stores"]?.get.parameters[3]?.schema ?? {}
  const nullOr = ({ default: initial, ...schema }: SchemaObject) => ({
    anyOf: [schema, { type: "null" }],
    default: initial
  })
  const parameter = { name: "kind", in: "query", required: false, description: "", schema: { type: "string" } }
  it.each<[string, string, unknown]>([
    ["a new path", "paths /v2/stores", document.paths["/v1/stores"]],
    ["a lower price", `${stores} x-credits`, 10],
    ["a new parameter that may be absent", `${stores} parameters 5`, parameter],
    ["a parameter that takes more", `${limit} schema minimum`, 0],
    ["a new field", `${store} rating`, { type: "number" }],
    ["a field that is never null any more", `${store} country`, { type: "string" }],
    ["one value less in an answer", `${store} fetch_status enum 2`, undefined],
    ["a number without fractions", "components schemas Point properties value type", "integer"],
    ["an error that happens no more", `${stores} responses 503`, undefined],
    ["a key that may be shown in another way, too", "security", [{ key: [] }, { other: [] }]],
    ["another server beside", "servers", [{ url: "/" }, { url: "https://other.example.com" }]],
    ["other words", `${stores} description`, "Stores."],
    ["a new error of a known type", `${stores} responses 409`, refused],
    ["null, that has no limits, beside what has them", `${limit} schema`, nullOr(limitSchema)]
  ])("%s", (_, place, value) => {
    expect(breaksOf(changed([place, value]))).toEqual([])
  })
})

describe("what breaks", () => {
  const note = (version: VersionNote["version"], breaking: boolean): VersionNote => ({
    version,
    date: "2027-01-01",
    breaking,
    changes: ["The field is gone."]
  })
  it("is named, with what to do, until a note of a new version says that something breaks", () => {
    const message = withoutNote(["GET /v1/stores is gone"], "1.0.0", [note("1.0.0", false)])
    expect(message).toContain("- GET /v1/stores is gone\n")
    expect(message).toContain("schemas/openapi/versions.ts")
    expect(withoutNote(["x"], "1.0.0", [note("1.1.0", false)])).toBeDefined()
    expect(withoutNote(["x"], "1.0.0", [note("1.0.0", true)])).toBeDefined()
    expect(withoutNote(["x"], "1.0.0", [note("2.0.0", true)])).toBeUndefined()
    expect(withoutNote([], "1.0.0", [note("1.0.0", false)])).toBeUndefined()
  })
  it("is told by any note that is newer than what is on record", () => {
    const [first, second, third] = [note("1.0.0", false), note("2.0.0", true), note("2.1.0", false)]
    expect(withoutNote(["x"], "1.0.0", [third, second, first])).toBeUndefined()
    expect(withoutNote(["x"], "2.0.0", [third, second, first])).toBeDefined()
  })
})
