/**
 * Compares the OpenAPI document with the server: scopes, parameters and examples of every route. Prices, statuses and
 * bodies are checked for every response in all tests. `test/openapi` sends random values of parameters.
 */
import { endpoints, openApi, type Scope, scopes, version } from "@larder/schemas"
import { beforeAll, describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const document = openApi(version)
const operations = Object.entries(document.paths).map(([template, { get }]) => ({ template, get }))

/** A valid request of an operation: the examples of its required parameters, and an id. */
const makeTarget = ({ get, template }: (typeof operations)[number], extra: ReadonlyArray<string> = []) => {
  const required = get.parameters.filter((parameter) => parameter.in === "query" && parameter.required)
  const query = [...required.map(({ example, name }) => `${name}=${example}`), ...extra].join("&")
  return `${template.replace("{id}", "none")}${query === "" ? "" : `?${query}`}`
}

/** By scope, a key with only this scope, and a key with all others. */
const keysWithOnly = new Map<string, string>()
const keysWithout = new Map<string, string>()
beforeAll(async () => {
  const account = api.key().account_id
  for (const scope of scopes) {
    const others = scopes.filter((other) => other !== scope)
    const create = async (keyScopes: ReadonlyArray<Scope>) =>
      (await createKey(api.home(), { account, scopes: keyScopes })).key
    keysWithOnly.set(scope, await create([scope]))
    keysWithout.set(scope, await create(others))
  }
})

describe("/openapi.json", () => {
  it("is the document of the schemas, needs no key and costs nothing", async () => {
    const reply = await api.get("/openapi.json", { key: undefined })
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"])
    expect(reply.json).toEqual(document)
    expect(reply.headers).not.toHaveProperty("x-credits-charged")
  })
})

/** Times of loading differ between warehouses. */
const removeLoadTimes = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (key, value) => (/^(fetched_at|first_seen_at)$/.test(key) ? "a time" : value))

describe("the examples of responses", () => {
  it.each(endpoints.flatMap(({ examples }) => Object.values(examples)))(
    "match the responses with the bundled samples: $target",
    async ({ body, target }) => {
      const { json, status } = await api.get(target)
      const [actual, documented] = [removeLoadTimes(json), removeLoadTimes(body)]
      expect(status).toBe(200)
      if (!target.endsWith("/categories")) expect(actual).toEqual(documented)
      else expect(actual).toEqual({ data: expect.arrayContaining(Object(documented).data) }) // the documentation shows only some
    }
  )
})

/** The rows of a response, or the points of its series and metrics. */
const findRows = (body: unknown): ReadonlyArray<unknown> => {
  const { data } = Object(body)
  return Array.isArray(data) ? data.flatMap((row) => row.points ?? [row]) : [data]
}

/** A request with the examples of some parameters, and of the required ones. */
const makeExampleTarget = ({ get, template }: (typeof operations)[number], names: ReadonlyArray<string>) => {
  const query = new URLSearchParams()
  for (const { example, in: location, name, required } of get.parameters) {
    if (location === "query" && (required || names.includes(name))) query.set(name, String(example))
  }
  const id = encodeURIComponent(String(get.parameters.find(({ name }) => name === "id")?.example))
  return `${template.replace("{id}", id)}?${query}`
}

describe("the examples of parameters, which tools fill in", () => {
  it.each(operations)(
    "find rows in the bundled samples, individually and all together: $get.operationId",
    async (operation) => {
      const names = operation.get.parameters.flatMap(({ example, name }) => (example === undefined ? [] : [name]))
      for (const chosen of [[], ...names.map((name) => [name]), names]) {
        const target = makeExampleTarget(operation, chosen)
        const { json, status } = await api.get(target)
        expect([target, status, findRows(json).length > 0]).toEqual([target, 200, true])
      }
    }
  )
})

describe.each(operations)("$get.operationId", (operation) => {
  const { get } = operation
  const scope = get["x-scope"]
  const hasNoId = get.responses["404"] === undefined // with an id that no record has, endpoints return 404

  it("returns 401 without a key", async () => {
    expect((await api.get(makeTarget(operation), { key: undefined })).status).toBe(401)
  })

  it("admits a key with only its scope, and returns 403 for a key with all other scopes", async () => {
    const admitted = await api.get(makeTarget(operation), { key: keysWithOnly.get(scope) })
    expect(admitted.status).toBe(hasNoId ? 200 : 404)
    const refused = await api.get(makeTarget(operation), { key: keysWithout.get(scope) })
    expect(formatError(refused)).toBe(`403 forbidden: This key is not scoped to ${scope}`)
  })

  it("rejects every parameter of the other endpoints that it does not document", async () => {
    const documented = new Set(get.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name))
    const allNames = new Set(operations.flatMap((other) => other.get.parameters.map(({ name }) => name)))
    const foreign = [...allNames].filter((name) => !documented.has(name))
    expect(foreign).toContain("id")
    for (const name of foreign) {
      expect(formatError(await api.get(makeTarget(operation, [`${name}=1`])))).toMatch(
        new RegExp(`^400 invalid_request: Unknown query parameter: ${name}\\. `)
      )
    }
  })
})
