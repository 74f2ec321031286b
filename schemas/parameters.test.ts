import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { invalid } from "./api-errors.ts"
import { country, cursor, day, limit, list, type Parameters, readQuery, text } from "./parameters.ts"

const described = { description: "x" }
const rejecting = limit({
  ...described,
  default: 100,
  maximum: 500,
  aboveMaximum: invalid("limit_too_large", "limit must be at most 500")
})
const clamping = limit({ ...described, default: 50, maximum: 200, aboveMaximum: "served as the maximum" })
const read = (parameters: Parameters, query: string) => readQuery(parameters, new URLSearchParams(query))
const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`).join(",")

describe("a limit", () => {
  const message = "limit must be a whole number of at least 1"
  it.each(["limit=", "limit=0", "limit=000", "limit=%2B1", "limit=-1", "limit=1.0", "limit=1e2", "limit=+1"])(
    "rejects %s",
    (query) => {
      assert.deepStrictEqual(read({ limit: rejecting }, query), invalid("invalid_parameter", message))
      assert.deepStrictEqual(read({ limit: clamping }, query), invalid("invalid_parameter", message))
    }
  )
  it.each(["limit=1%20", "limit=%201", "limit=1%0A", "limit=ten", "limit=%EF%BC%91", "limit=0x10", "limit=1_0"])(
    "rejects %s",
    (query) => {
      assert.deepStrictEqual(read({ limit: clamping }, query), invalid("invalid_parameter", message))
    }
  )
  it("is the default when it is absent", () => {
    assert.deepStrictEqual(read({ limit: rejecting }, ""), { value: { limit: 100 } })
    assert.deepStrictEqual(read({ limit: clamping }, ""), { value: { limit: 50 } })
  })
  it.each([
    ["1", 1],
    ["007", 7],
    ["200", 200]
  ])("accepts %s", (given, expected) => {
    assert.deepStrictEqual(read({ limit: clamping }, `limit=${given}`), { value: { limit: expected } })
  })
  it.each(["501", "9".repeat(400), "9007199254740993"])("is rejected above a maximum that is enforced: %s", (given) => {
    assert.deepStrictEqual(
      read({ limit: rejecting }, `limit=${given}`),
      invalid("limit_too_large", "limit must be at most 500")
    )
  })
  it.each(["201", "9".repeat(400), "9007199254740993"])("is reduced to a maximum that is not enforced: %s", (given) => {
    assert.deepStrictEqual(read({ limit: clamping }, `limit=${given}`), { value: { limit: 200 } })
  })
  it("has a description which states that values above 200 count as 200", () => {
    assert.include(clamping.description, "Values above 200 count as 200.")
  })
})

describe("a text", () => {
  const parameters = { name: text(described), cursor }
  it("equals an absent text if it is empty", () => {
    assert.deepStrictEqual(read(parameters, "name=&cursor="), read(parameters, ""))
    assert.deepStrictEqual(read(parameters, ""), { value: { name: undefined, cursor: undefined } })
  })
  it("is neither trimmed nor interpreted", () => {
    assert.deepStrictEqual(read(parameters, "name=%20%25_*%5C%20"), { value: { name: " %_*\\ ", cursor: undefined } })
  })
  it("may be a single space", () => {
    assert.deepStrictEqual(read(parameters, "name=+"), { value: { name: " ", cursor: undefined } })
  })
})

describe("a country", () => {
  const parameters = { country: country(described) }
  it.each([
    ["US", "US"],
    ["us", "US"],
    ["", undefined]
  ])("%j becomes %s", (given, expected) => {
    assert.deepStrictEqual(read(parameters, `country=${given}`), { value: { country: expected } })
  })
  it.each(["USA", "U", "U1", "US%20", "%C3%84%C3%96", "U%C5%BF"])("rejects %s", (given) => {
    assert.deepStrictEqual(
      read(parameters, `country=${given}`),
      invalid("invalid_parameter", "country must be a two-letter country code (ISO 3166-1 alpha-2)")
    )
  })
})

describe("a day", () => {
  const parameters = { from: day(described) }
  it("may be absent", () => {
    assert.deepStrictEqual(read(parameters, ""), { value: { from: undefined } })
  })
  it.each(["", "2024-02-30", "2024-2-3", "0000-01-01", "2024-01-01%20", "today"])("rejects %j", (given) => {
    assert.deepStrictEqual(
      read(parameters, `from=${given}`),
      invalid("invalid_parameter", "from must be a real calendar day in YYYY-MM-DD format")
    )
  })
  it("accepts the years 0001 to 9999", () => {
    assert.deepStrictEqual(read(parameters, "from=0001-01-01"), { value: { from: "0001-01-01" } })
    assert.deepStrictEqual(read(parameters, "from=9999-12-31"), { value: { from: "9999-12-31" } })
  })
})

describe("a list", () => {
  const parameters = { series: list(described) }
  const required = invalid("missing_parameter", "series is required: 1 to 100 names, separated by commas")
  it("is required, and counts as missing when it is empty", () => {
    assert.deepStrictEqual(read(parameters, ""), required)
    assert.deepStrictEqual(read(parameters, "series="), required)
  })
  it("accepts 100 names and rejects 101", () => {
    assert.deepStrictEqual(read(parameters, `series=${names(100)}`), { value: { series: names(100).split(",") } })
    assert.deepStrictEqual(
      read(parameters, `series=${names(101)}`),
      invalid("too_many_names", "series takes at most 100 names, 101 were given")
    )
  })
  it("counts duplicates, and keeps them in order", () => {
    assert.deepStrictEqual(read(parameters, "series=b,a,b"), { value: { series: ["b", "a", "b"] } })
    assert.deepStrictEqual(
      read(parameters, `series=${Array(101).fill("a").join(",")}`),
      invalid("too_many_names", "series takes at most 100 names, 101 were given")
    )
  })
  it("keeps the spaces and capitals of its names", () => {
    assert.deepStrictEqual(read(parameters, "series=%20a,B%20"), { value: { series: [" a", "B "] } })
  })
  it.each(["a,", ",a", "a,,b", ",", "a%2C"])("rejects an empty name in %s", (given) => {
    assert.deepStrictEqual(
      read(parameters, `series=${given}`),
      invalid("invalid_parameter", "series has an empty name between its commas")
    )
  })
  it("reports too many names before an empty name", () => {
    assert.deepStrictEqual(
      read(parameters, `series=${",".repeat(100)}`),
      invalid("too_many_names", "series takes at most 100 names, 101 were given")
    )
  })
})

describe("a query", () => {
  const parameters = { series: list(described), from: day(described), limit: rejecting }
  it("is rejected for an unknown name before anything else", () => {
    assert.deepStrictEqual(
      read(parameters, "from=x&from=y&limit=0&nonsense=1"),
      invalid("unknown_parameter", "Unknown query parameter: nonsense. Did you mean series?")
    )
  })
  it("is rejected for a repeated name before any value is read, even if both values are equal", () => {
    assert.deepStrictEqual(
      read(parameters, "limit=0&from=2024-01-01&from=2024-01-01"),
      invalid("repeated_parameter", "Repeated query parameter: from")
    )
  })
  it("is checked in the order in which parameters are declared, not sent", () => {
    assert.deepStrictEqual(
      read(parameters, "limit=0&from=x&series="),
      invalid("missing_parameter", "series is required: 1 to 100 names, separated by commas")
    )
    assert.deepStrictEqual(
      read(parameters, "limit=0&from=x&series=a"),
      invalid("invalid_parameter", "from must be a real calendar day in YYYY-MM-DD format")
    )
  })
  it.each([
    ["limt", "limit"],
    ["LIMIT", "limit"],
    ["serie", "series"],
    ["series[]", "series"],
    ["form", "from"],
    ["offset", "series"], // not near, but no other name is nearer
    ["__proto__", "from"],
    ["constructor", "series"],
    ["toString", "series"],
    ["hasOwnProperty", "series"],
    ["limit".repeat(2_000), "limit"]
  ])("is rejected with a parameter named %j, and the message suggests %s", (name, nearest) => {
    assert.deepStrictEqual(
      read(parameters, `series=a&${encodeURIComponent(name)}=1`),
      invalid("unknown_parameter", `Unknown query parameter: ${name}. Did you mean ${nearest}?`)
    )
  })
  it.each(["=", "=1", "&=", "series=a&=", "=&nonsense=1"])("is rejected if a parameter has no name: %s", (query) => {
    assert.deepStrictEqual(read(parameters, query), invalid("unknown_parameter", "A parameter has no name"))
  })
  it("must be empty for an endpoint without parameters", () => {
    assert.deepStrictEqual(read({}, ""), { value: {} })
    assert.deepStrictEqual(
      read({}, "cursor="),
      invalid("unknown_parameter", "Unknown query parameter: cursor. This endpoint takes none.")
    )
  })
  it("returns only declared values, or names the rejected one", () => {
    const pairs = fc.array(
      fc.tuple(fc.constantFrom("series", "from", "limit", "__proto__", "x"), fc.string({ maxLength: 6 })),
      { maxLength: 5 }
    )
    fc.assert(
      fc.property(pairs, (given) => {
        const result = readQuery(parameters, new URLSearchParams(given))
        if ("value" in result) assert.deepStrictEqual(Object.keys(result.value), ["series", "from", "limit"])
        else assert.match(result.invalid, /series|from|limit|__proto__|x/)
      })
    )
  })
})
