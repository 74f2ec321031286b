import { assert, describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Ajv2020 } from "ajv/dist/2020.js"
import { methodNotAllowed, noSuchEndpoint } from "./api-errors.ts"
import { endpoints } from "./data-sets.ts"
import { versions } from "./openapi/versions.ts"
import { openApi } from "./openapi.ts"

const document = openApi("1.2.3")
const operations = Object.entries(document.paths).map(([path, { get }]) => ({ path, get }))
const operationsById = new Map(operations.map(({ get }) => [get.operationId, get]))

/** Every value in the document, with its key. */
const listEntries = (node: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof node === "object" && node !== null
    ? Object.entries(node).flatMap(([key, value]) => [[key, value] as const, ...listEntries(value)])
    : []
const resolve = (reference: string): unknown =>
  reference
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((node, key) => new Map(Object.entries(node ?? {})).get(key), document)

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator()
    assert.deepStrictEqual(await validator.validate({ ...document }), { valid: true })
    assert.strictEqual(validator.version, "3.1")
  })
  it("is plain JSON, and a new copy each time", () => {
    assert.deepStrictEqual(JSON.parse(JSON.stringify(document)), document)
    assert.notStrictEqual(openApi().components.headers, openApi().components.headers)
  })
  it("has only references that resolve, and no unused component", () => {
    const references = new Set(listEntries(document).flatMap(([key, value]) => (key === "$ref" ? [String(value)] : [])))
    assert.deepStrictEqual(
      [...references].filter((reference) => resolve(reference) === undefined),
      []
    )
    const components = (["schemas", "responses", "headers"] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`)
    )
    assert.sameMembers([...references], components)
  })
  it("names its components after the records, without numbered duplicates", () => {
    assert.includeMembers(Object.keys(document.components.schemas), ["BrandedFood", "Store", "StoreProduct", "Error"])
    assert.deepStrictEqual(
      Object.keys(document.components.schemas).filter((name) => /_\d+$/.test(name)),
      []
    )
  })
  it("states the version of the API, the given program version, and its own host as the server", () => {
    assert.deepStrictEqual([document.info.version, document.info["x-program-version"]], [versions[0].version, "1.2.3"])
    assert.deepStrictEqual(document["x-changes"], versions)
    for (const { version, date } of versions) assert.include(document.info.description, `- ${version} (${date})`)
    assert.deepStrictEqual(document.servers, [{ url: "/" }])
  })
  it("states the licence of the program by its SPDX identifier", () => {
    assert.deepStrictEqual(document.info.license, { name: "MIT", identifier: "MIT" })
  })
  it("requires a bearer key everywhere", () => {
    assert.deepStrictEqual(document.security, [{ key: [] }])
    const { type, scheme, bearerFormat } = document.components.securitySchemes.key ?? {}
    assert.deepStrictEqual([type, scheme, bearerFormat], ["http", "bearer", "svc_data_…"])
  })
  it("explains the responses for unknown endpoints and methods", () => {
    for (const { message, type } of [noSuchEndpoint, methodNotAllowed]) {
      assert.match(document.info.description, new RegExp(`\`${type}\`, "${message}"`))
    }
  })
  it("describes every field of every record", () => {
    const listFields = (node: unknown): ReadonlyArray<readonly [string, unknown]> =>
      listEntries(node).flatMap(([key, value]) => (key === "properties" ? Object.entries(value ?? {}) : []))
    const isDescribed = (field: unknown): boolean => {
      const { $ref, description } = Object(field)
      return $ref === undefined ? typeof description === "string" && description !== "" : isDescribed(resolve($ref))
    }
    const found = listFields(document)
    assert.isAbove(found.length, 130)
    assert.deepStrictEqual(
      found.filter(([, field]) => !isDescribed(field)).map(([name]) => name),
      []
    )
  })
  it("describes every tag that an operation has", () => {
    assert.deepStrictEqual(
      document.tags.map(({ name }) => name),
      [...new Set(endpoints.map(({ tag }) => tag))]
    )
    for (const { description } of document.tags) assert.isNotEmpty(description)
  })
})

describe("the schemas of the OpenAPI document, which clients are generated from", () => {
  /** Every schema with a type, with its key. */
  const typedSchemas = listEntries([document.components.schemas, document.paths]).filter(
    ([, value]) => "type" in Object(value)
  )

  it("declare every number as a double: without a format, Go uses 32 bits", () => {
    const numbers = typedSchemas.filter(([, value]) => Object(value).type === "number")
    assert.isAbove(numbers.length, 20)
    for (const [name, value] of numbers) assert.strictEqual(Object(value).format, "double", name)
  })
  it("have no alternatives except null", () => {
    const others = listEntries(document).flatMap(([name, value]) => {
      const { anyOf, oneOf } = Object(value)
      const alternatives: ReadonlyArray<unknown> = anyOf ?? oneOf ?? []
      return alternatives.filter((alternative) => Object(alternative).type !== "null").length > 1 ? [name] : []
    })
    assert.deepStrictEqual(others, [])
  })
  it("allow all properties in an object that lists none", () => {
    const { attributes } = Object(document.components.schemas.CommodityCatalogEntry?.properties)
    assert.deepStrictEqual([attributes.type, attributes.additionalProperties], ["object", true])
  })
})

describe("the operations of the OpenAPI document", () => {
  it("are the endpoints, beginning with the eleven paths of the contract", () => {
    assert.strictEqual(operations.length, endpoints.length)
    assert.deepStrictEqual(Object.keys(document.paths).slice(0, 11), [
      "/v1/commodities",
      "/v1/commodities/prices",
      "/v1/commodities/metric-values",
      "/v1/branded-foods",
      "/v1/branded-foods/categories",
      "/v1/branded-foods/{id}",
      "/v1/stores",
      "/v1/stores/{id}",
      "/v1/stores/{id}/products",
      "/v1/stores/{id}/collections",
      "/v1/products/{id}"
    ])
  })
  it.each(endpoints)("$id has the parameters of its endpoint", ({ id, parameters, record }) => {
    assert.deepStrictEqual(
      operationsById.get(id)?.parameters.map((p) => [p.in, p.name, p.required, p.description !== ""]),
      [
        ...(record === undefined ? [] : [["path", "id", true, true]]),
        ...Object.entries(parameters).map(([name, { required }]) => ["query", name, required, true])
      ]
    )
  })
  it.each(endpoints)("$id states its scope and price", ({ id, scope, credits }) => {
    assert.strictEqual(operationsById.get(id)?.["x-scope"], scope)
    assert.strictEqual(operationsById.get(id)?.["x-credits"], credits)
  })
  it.each(endpoints)("$id lists every possible status", ({ id, record }) => {
    const expected = ["200", "400", "401", "402", "403", ...(record === undefined ? [] : ["404"]), "500", "503"]
    assert.deepStrictEqual(Object.keys(operationsById.get(id)?.responses ?? {}), expected)
  })
  it("describe limits as integers with bounds, and lists as strings with a pattern", () => {
    const findSchema = (id: string, name: string) =>
      operationsById.get(id)?.parameters.find((parameter) => parameter.name === name)?.schema
    assert.deepStrictEqual(findSchema("searchCommodities", "limit"), { type: "integer", minimum: 1, maximum: 500 })
    assert.deepStrictEqual(findSchema("searchBrandedFoods", "limit"), {
      type: "integer",
      minimum: 1,
      maximum: 200,
      default: 50
    })
    assert.deepStrictEqual(findSchema("getStoreProducts", "limit"), { type: "integer", minimum: 1, default: 50 })
    assert.deepStrictEqual(findSchema("getCommodityPrices", "series"), {
      type: "string",
      pattern: "^[^,]+(,[^,]+){0,99}$"
    })
    assert.deepStrictEqual(findSchema("getCommodityPrices", "from"), { type: "string", format: "date" })
  })
})

describe("the examples of the OpenAPI document", () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false, allErrors: true })
  ajv.addKeyword("components") // the schemas refer to each other from the root of the document
  const makeLocal = (schema: object) =>
    JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", "larder#/components/"))
  ajv.addSchema({ $id: "larder", components: makeLocal(document.components.schemas) }, "larder")
  const validate = (schema: object, value: unknown) => {
    const check = ajv.compile(makeLocal(schema))
    return check(value) ? [] : check.errors
  }

  it("have parameter values that the endpoint and the schema accept", () => {
    for (const { id, parameters } of endpoints) {
      for (const { name, example, schema } of operationsById.get(id)?.parameters ?? []) {
        if (example === undefined) continue
        assert.deepStrictEqual(validate(schema, example), [], `${id} ${name}`)
        if (name === "id") continue
        assert.property(parameters[name]?.read(name, String(example)), "value", `${id} ${name}`)
      }
    }
  })
  it("include neither a cursor nor a parameter that selects a shape, because tools fill in the examples", () => {
    for (const { get } of operations) {
      const cursors = get.parameters.filter(({ name }) => name === "cursor")
      for (const cursor of cursors) assert.notProperty(cursor, "example")
    }
    for (const { example, name, schema } of operationsById.get("searchCommodities")?.parameters ?? []) {
      assert.deepStrictEqual(
        [name, example, schema.default],
        [name, name === "commodity" ? "butter" : undefined, undefined]
      )
    }
  })
  it("are responses to calls of their operation, and match its schema", () => {
    for (const { get, path } of operations) {
      const response = get.responses["200"]
      const content = response !== undefined && "content" in response ? response.content["application/json"] : undefined
      const examples = Object.values(content?.examples ?? {})
      assert.lengthOf(examples, path === "/v1/commodities" ? 2 : 1, path)
      for (const { description, value } of examples) {
        assert.deepStrictEqual(validate(content?.schema ?? {}, value), [], path)
        const [, target = ""] = /^`GET ([^?`]+)/.exec(description ?? "") ?? []
        assert.match(target, new RegExp(`^${path.replace("{id}", "[a-z]+_[a-z_]+_[0-9a-z]+")}$`))
      }
    }
  })
  it("are errors that match the schema of errors", () => {
    const responses = [
      ...operations.flatMap(({ get }) => Object.entries(get.responses).flatMap(([s, r]) => (s === "200" ? [] : [r]))),
      ...Object.values(document.components.responses)
    ]
    const examples = responses.flatMap((response) =>
      "content" in response ? Object.values(response.content["application/json"].examples ?? {}) : []
    )
    assert.isAbove(examples.length, 50)
    const error = document.components.schemas.Error ?? {}
    for (const { value } of examples) assert.deepStrictEqual(validate(error, value), [])
  })
  it("include every error message that is known in advance", () => {
    const listMessages = (id: string, status: string) => {
      const response = operationsById.get(id)?.responses[status]
      return response !== undefined && "content" in response
        ? Object.keys(response.content["application/json"].examples ?? {})
        : []
    }
    assert.deepStrictEqual(listMessages("searchBrandedFoods", "400"), [
      "limit must be a whole number of at least 1",
      "at most 200 per page",
      "cursor is damaged, or belongs to another endpoint, id or set of filters",
      "Unknown query parameter: <name>. Did you mean <nearest>?",
      "A parameter has no name",
      "Repeated query parameter: <name>"
    ])
    assert.deepStrictEqual(listMessages("getCommodityPrices", "400"), [
      "series is required: 1 to 100 names, separated by commas",
      "series has an empty name between its commas",
      "series takes at most 100 names, 101 were given",
      "from must be a real calendar day in YYYY-MM-DD format",
      "to must be a real calendar day in YYYY-MM-DD format",
      "Unknown series: <slug>",
      "from must not be after to",
      "Unknown query parameter: <name>. Did you mean <nearest>?",
      "A parameter has no name",
      "Repeated query parameter: <name>"
    ])
    assert.deepStrictEqual(listMessages("getStore", "400"), [
      "Unknown query parameter: <name>. This endpoint takes none.",
      "A parameter has no name",
      "Repeated query parameter: <name>"
    ])
    assert.deepStrictEqual(listMessages("getStoreProducts", "403"), ["This key is not scoped to get-store-products"])
    assert.deepStrictEqual(listMessages("getStoreProducts", "404"), ["Unknown store: <id>"])
    assert.deepStrictEqual(listMessages("getBrandedFood", "404"), ["Unknown branded food: <id>"])
    assert.deepStrictEqual(
      Object.keys(document.components.responses.InsufficientBalance?.content["application/json"].examples ?? {}),
      ["Insufficient balance", "Monthly spend cap reached"]
    )
  })
  it("can have null only in fields that allow it", () => {
    const point = { date: "2024-01-06", value: 2.63 }
    const series = { slug: "butter-sales-price-weekly", unit: "USD/lb", points: [point] }
    const schema = document.components.schemas.CommodityPrices ?? {}
    assert.deepStrictEqual(validate(schema, series), [])
    assert.isNotEmpty(validate(schema, { ...series, unit: null }))
    const metric = { metric_name: "m", unit: "usd_per_lb", from: null, to: "2024-01-06", points: [] }
    assert.deepStrictEqual(validate(document.components.schemas.CommodityMetricValues ?? {}, metric), [])
  })
})
