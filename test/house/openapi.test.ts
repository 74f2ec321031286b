/**
 * The document that the server serves, and whether every route has the scope and the parameters that it names. Prices,
 * statuses and bodies are judged with every answer that a test gets; other values of parameters are asked for at random by
 * `test/openapi`.
 */
import { endpoints, openApi, type Scope, scopes, version } from "@larder/schemas"
import { beforeAll, describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const document = openApi(version)
const operations = Object.entries(document.paths).map(([template, { get }]) => ({ template, get }))

/** A request that each operation finds nothing wrong with: its required parameters by their examples, and some id. */
const targetOf = ({ get, template }: (typeof operations)[number], more: ReadonlyArray<string> = []) => {
  const required = get.parameters.filter((parameter) => parameter.in === "query" && parameter.required)
  const query = [...required.map(({ example, name }) => `${name}=${example}`), ...more].join("&")
  return `${template.replace("{id}", "none")}${query === "" ? "" : `?${query}`}`
}

/** Keys that hold one scope each, and keys that hold all others. */
const only = new Map<string, string>()
const allBut = new Map<string, string>()
beforeAll(async () => {
  const account = api.key().account_id
  for (const scope of scopes) {
    const others = scopes.filter((other) => other !== scope)
    const create = async (held: ReadonlyArray<Scope>) => (await createKey(api.home(), { account, scopes: held })).key
    only.set(scope, await create([scope]))
    allBut.set(scope, await create(others))
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

/** Moments of a load differ from load to load. */
const withoutMoments = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (key, value) => (/^(fetched_at|first_seen_at)$/.test(key) ? "a moment" : value))

describe("the examples of answers", () => {
  it.each(endpoints.flatMap(({ examples }) => Object.values(examples)))(
    "match the answers of the bundled samples: $target",
    async ({ body, target }) => {
      const { json, status } = await api.get(target)
      const [answered, documented] = [withoutMoments(json), withoutMoments(body)]
      expect(status).toBe(200)
      if (!target.endsWith("/categories")) expect(answered).toEqual(documented)
      else expect(answered).toEqual({ data: expect.arrayContaining(Object(documented).data) }) // too many to show
    }
  )
})

/** The rows of an answer; of series and metrics, their values. */
const rowsOf = (body: unknown): ReadonlyArray<unknown> => {
  const { data } = Object(body)
  return Array.isArray(data) ? data.flatMap((row) => row.points ?? [row]) : [data]
}

/** A call with the examples of some parameters, and with those of the required ones. */
const withExamples = ({ get, template }: (typeof operations)[number], names: ReadonlyArray<string>) => {
  const query = new URLSearchParams()
  for (const { example, in: place, name, required } of get.parameters) {
    if (place === "query" && (required || names.includes(name))) query.set(name, String(example))
  }
  const id = encodeURIComponent(String(get.parameters.find(({ name }) => name === "id")?.example))
  return `${template.replace("{id}", id)}?${query}`
}

describe("the examples of parameters, which tools fill in", () => {
  it.each(operations)("find rows in the bundled samples, each alone and all at once: $get.operationId", async (one) => {
    const names = one.get.parameters.flatMap(({ example, name }) => (example === undefined ? [] : [name]))
    for (const chosen of [[], ...names.map((name) => [name]), names]) {
      const target = withExamples(one, chosen)
      const { json, status } = await api.get(target)
      expect([target, status, rowsOf(json).length > 0]).toEqual([target, 200, true])
    }
  })
})

describe.each(operations)("$get.operationId", (operation) => {
  const { get } = operation
  const scope = get["x-scope"]
  const succeeds = get.responses["404"] === undefined // no record is loaded that an id could name

  it("answers 401 without a key", async () => {
    expect((await api.get(targetOf(operation), { key: undefined })).status).toBe(401)
  })

  it("admits a key with only its scope, and answers 403 to a key with all other scopes", async () => {
    const admitted = await api.get(targetOf(operation), { key: only.get(scope) })
    expect(admitted.status).toBe(succeeds ? 200 : 404)
    const refused = await api.get(targetOf(operation), { key: allBut.get(scope) })
    expect(formatError(refused)).toBe(`403 forbidden: This key is not scoped to ${scope}`)
  })

  it("rejects every parameter of the other endpoints that it does not document", async () => {
    const documented = new Set(get.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name))
    const all = new Set(operations.flatMap((other) => other.get.parameters.map(({ name }) => name)))
    const foreign = [...all].filter((name) => !documented.has(name))
    expect(foreign).toContain("id")
    for (const name of foreign) {
      expect(formatError(await api.get(targetOf(operation, [`${name}=1`])))).toMatch(
        new RegExp(`^400 invalid_request: Unknown query parameter: ${name}\\. `)
      )
    }
  })
})
