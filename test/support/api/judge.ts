/**
 * What every answer of the API must be, whatever was asked: JSON that the server's own OpenAPI document describes, with
 * exactly the fields it lists, and the headers that all answers share.
 */
import type { IncomingHttpHeaders } from "node:http"
import {
  codeNames,
  componentSchemas,
  endpoints,
  isDay,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiResponse,
  type Reference
} from "@larder/schemas"
import { Ajv2020 } from "ajv/dist/2020.js"
import { expect } from "vitest"

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The body as it was sent, uncompressed. */
  readonly text: string
  readonly json: unknown
}

const typeOf: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "unauthorized",
  402: "insufficient_balance",
  403: "forbidden",
  404: "not_found",
  405: "invalid_request",
  500: "internal",
  503: "internal"
}

/** What every error says in its headers, whoever answers it: the code, and the place on the page of errors that explains it. */
export const expectCode = ({ headers }: Pick<Reply, "headers">, code = String(headers["x-error-code"])) => {
  expect(headers["x-error-code"]).toBe(code)
  expect(codeNames).toContain(code)
  expect(headers.link).toMatch(new RegExp(`^<(https?://[^/>]+)?/docs/errors#${code}>; rel="help"$`))
}

/** The document leaves objects open for clients; the server must send what is listed and nothing else. */
const closed = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== "object" || node === null) return node
  const inside = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  return "properties" in node && !("additionalProperties" in node) ? { ...inside, additionalProperties: false } : inside
}

const ofAccount = ["x-data-version", "x-data-origin", "x-credits-charged", "x-credits-remaining"]

export const makeJudge = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat("date", isDay)
  ajv.addFormat("date-time", (text: string) => new Date(text).toISOString() === text)
  ajv.addFormat("double", { type: "number", validate: Number.isFinite })
  ajv.addSchema({ ...Object(closed(document)), $id: "larder" })
  const seen = new Set<string>()

  /** Where the document says less than is promised, because generators of clients need it so. */
  const promised = new Map(
    endpoints.flatMap(({ documented, id, response }) => {
      if (documented === undefined) return []
      const { components, schemas } = componentSchemas([response])
      return [
        [id, ajv.compile({ ...Object(closed(schemas[0])), components: { schemas: closed(components) } })] as const
      ]
    })
  )

  const operations = Object.entries(document.paths).map(([template, { get }]) => ({
    template,
    pattern: new RegExp(`^${template.replace("{id}", "[^/]+")}$`),
    operation: get
  }))
  /** A path without parameters comes before one with an id. Dot segments, encoded or not, are no ids: they name no path. */
  const operationOf = (path: string) =>
    operations
      .filter(() => !/\/(\.|%2e){1,2}(\/|$)|[\\#]/i.test(path))
      .filter(({ pattern }) => pattern.test(path))
      .toSorted((a, b) => Number(a.template.includes("{")) - Number(b.template.includes("{")))[0]

  const resolve = (response: OpenApiResponse | Reference): readonly [string, OpenApiResponse] | undefined => {
    if (!("$ref" in response)) return undefined
    const name = response.$ref.split("/").at(-1) ?? ""
    const shared = document.components.responses[name]
    return shared && [`larder#/components/responses/${name}`, shared]
  }

  /** The documented answer of a status, and where it stands in the document. */
  const documented = (template: string, operation: OpenApiOperation, status: number) => {
    const response = operation.responses[String(status)]
    if (response === undefined) throw new Error(`${template} does not document ${status}`)
    const place = `larder#/paths/${template.replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D")}`
    return resolve(response) ?? ([`${place}/get/responses/${status}`, response as OpenApiResponse] as const)
  }

  const validate = (schema: string, json: unknown) => {
    const check = ajv.getSchema(schema) ?? ajv.compile({ $ref: schema })
    expect(check(json) ? [] : check.errors, `body by ${schema}`).toEqual([])
  }

  /** Messages are documented word by word, with `<name>` for what was sent, and the code of each. */
  const errors = new Map<string, ReadonlyArray<{ readonly message: RegExp; readonly summary: string | undefined }>>()
  const errorsAt = (place: string, response: OpenApiResponse) => {
    const known = errors.get(place)
    if (known !== undefined) return known
    const made = Object.values(response.content["application/json"].examples ?? {}).map(({ summary, value }) => {
      const text = String(Object(value).error.message)
        .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
        .replaceAll(/<[a-z]+>/g, "[^]*")
        .replace("101 were given", "\\d+ were given")
      return { message: new RegExp(`^${text}$`), summary }
    })
    errors.set(place, made)
    return made
  }

  const judgeDocumented = ({ headers, json }: Reply, place: string, response: OpenApiResponse) => {
    const { message } = Object(json).error
    const documented = errorsAt(place, response).filter((error) => error.message.test(message))
    expect(documented.length, `a documented message: ${message}`).toBeGreaterThan(0)
    const codes = documented.map(({ summary }) => summary)
    expect(codes, "the documented code of this message").toContain(`X-Error-Code: ${headers["x-error-code"]}`)
  }

  const judgeCall = (template: string, operation: OpenApiOperation, reply: Reply) => {
    const { headers, json, status } = reply
    const [place, response] = documented(template, operation, status)
    validate(`${place}/content/application~1json/schema`, json)
    const isPromised = promised.get(operation.operationId)
    if (status === 200 && isPromised) expect(isPromised(json) ? [] : isPromised.errors, "body as promised").toEqual([])
    if (status !== 200) judgeDocumented(reply, place, response)
    for (const name of Object.keys(response.headers)) {
      const header = document.components.headers[name]
      const value = headers[name.toLowerCase()]
      if (value === undefined) expect(header?.required, `documented header ${name}`).toBe(false)
      else if (header?.schema.type === "integer") expect(value, `documented header ${name}`).toMatch(/^\d+$/)
    }
    if (status === 401) {
      expect(headers["www-authenticate"]).toBe("Bearer")
      for (const name of ofAccount) expect(headers, "an unknown caller learns nothing").not.toHaveProperty([name])
    } else if (status < 500) {
      for (const name of ofAccount) expect(headers, "an authenticated answer").toHaveProperty([name])
      expect(headers["x-data-version"]).toMatch(/^larder-\d{6,}$/)
      expect(headers["x-data-origin"]).toMatch(/^(live|sample)$/)
      expect(headers["x-credits-remaining"]).toMatch(/^\d+$/)
      expect(headers["x-credits-charged"]).toBe(status === 200 ? String(operation["x-credits"]) : "0")
    }
  }

  const judgeError = ({ headers, json, status }: Reply, method: string) => {
    for (const name of ofAccount) expect(headers, "no key was looked at").not.toHaveProperty([name])
    expectCode({ headers }, status === 405 ? "method_not_allowed" : "no_such_endpoint")
    if (method === "HEAD") return
    validate("larder#/components/schemas/Error", json)
    expect(json).toHaveProperty("error.type", typeOf[status])
  }

  return {
    document,
    operationOf,
    /** Judges an answer of the API to a request with this method and this path, without its query. */
    judge: (method: string, path: string, reply: Reply) => {
      const { headers, status, text } = reply
      const found = operationOf(path)
      const id = headers["x-request-id"]
      expect(id, "every answer has an id of its own").toMatch(/^\S+$/)
      expect(seen.has(String(id)), "every answer has an id of its own").toBe(false)
      seen.add(String(id))
      expect(headers["access-control-allow-origin"]).toBe("*")
      expect(headers).not.toHaveProperty("access-control-allow-credentials")
      expect(headers["cache-control"]).toBe("private, no-store")
      if (method === "OPTIONS" && found !== undefined) {
        expect([status, text]).toEqual([204, ""])
        return
      }
      expect(headers["content-type"]).toMatch(/^application\/json(;|$)/)
      if (path === "/openapi.json") return
      if (found === undefined) expect(status, "an unknown path").toBe(404)
      else if (method !== "GET") expect(status, "a method that is not served").toBe(405)
      else {
        judgeCall(found.template, found.operation, reply)
        if (status === 200) expect(headers).not.toHaveProperty("x-error-code")
        else {
          expect(reply.json).toHaveProperty("error.type", typeOf[status])
          expectCode(reply)
        }
        return
      }
      judgeError(reply, method)
    }
  }
}

export type Judge = ReturnType<typeof makeJudge>
