/**
 * Checks that apply to every response of the API: its JSON matches the server's own OpenAPI document, with exactly the
 * listed fields, and it has the common headers.
 */
import type { IncomingHttpHeaders } from "node:http"
import { codeNames, componentSchemas, endpoints, isDay } from "@larder/schemas"
import type { OpenApiDocument } from "@larder/schemas/openapi.ts"
import { Ajv2020 } from "ajv/dist/2020.js"
import { expect } from "vitest"

type Operation = OpenApiDocument["paths"][string]["get"]
type DocumentedResponse = OpenApiDocument["components"]["responses"][string]

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The body as it was sent, uncompressed. */
  readonly text: string
  readonly json: unknown
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "unauthorized",
  402: "insufficient_balance",
  403: "forbidden",
  404: "not_found",
  405: "invalid_request",
  500: "internal",
  503: "internal"
}

/** Every error has these headers: its code, and a link to the explanation of the code. */
export const expectErrorCode = ({ headers }: Pick<Reply, "headers">, code = String(headers["x-error-code"])) => {
  expect(headers["x-error-code"]).toBe(code)
  expect(codeNames).toContain(code)
  expect(headers.link).toMatch(new RegExp(`^<(https?://[^/>]+)?/docs/errors#${code}>; rel="help"$`))
}

/** For clients, the document leaves objects open. The server must send only the listed fields. */
const closeObjects = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(closeObjects)
  if (typeof node !== "object" || node === null) return node
  const members = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closeObjects(value)]))
  const isOpen = "properties" in node && !("additionalProperties" in node)
  return isOpen ? { ...members, additionalProperties: false } : members
}

const keyHeaders = ["x-data-version", "x-data-origin", "x-credits-charged", "x-credits-remaining"]

export const makeResponseCheck = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat("date", isDay)
  ajv.addFormat("date-time", (text: string) => new Date(text).toISOString() === text)
  ajv.addFormat("double", { type: "number", validate: Number.isFinite })
  ajv.addSchema({ ...Object(closeObjects(document)), $id: "larder" })
  const requestIds = new Set<string>()

  /** Exact schemas of responses that the document describes less precisely, for client generators. */
  const exactChecks = new Map(
    endpoints.flatMap(({ documented, id, response }) => {
      if (documented === undefined) return []
      const { components, schemas } = componentSchemas([response])
      return [
        [
          id,
          ajv.compile({ ...Object(closeObjects(schemas[0])), components: { schemas: closeObjects(components) } })
        ] as const
      ]
    })
  )

  const operations = Object.entries(document.paths).map(([template, { get }]) => ({
    template,
    pattern: new RegExp(`^${template.replace("{id}", "[^/]+")}$`),
    operation: get
  }))
  /** A path without parameters takes precedence over one with an id. Dot segments, encoded or not, are not ids. */
  const findOperation = (path: string) =>
    operations
      .filter(() => !/\/(\.|%2e){1,2}(\/|$)|[\\#]/i.test(path))
      .filter(({ pattern }) => pattern.test(path))
      .toSorted((a, b) => Number(a.template.includes("{")) - Number(b.template.includes("{")))[0]

  const dereference = (response: Operation["responses"][string]): readonly [string, DocumentedResponse] | undefined => {
    if (!("$ref" in response)) return undefined
    const name = response.$ref.split("/").at(-1) ?? ""
    const shared = document.components.responses[name]
    return shared && [`larder#/components/responses/${name}`, shared]
  }

  /** The documented response with a status, and its path in the document. */
  const findDocumented = (template: string, operation: Operation, status: number) => {
    const response = operation.responses[String(status)]
    if (response === undefined) throw new Error(`${template} does not document ${status}`)
    const location = `larder#/paths/${template.replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D")}`
    return dereference(response) ?? ([`${location}/get/responses/${status}`, response as DocumentedResponse] as const)
  }

  const validate = (schema: string, json: unknown) => {
    const check = ajv.getSchema(schema) ?? ajv.compile({ $ref: schema })
    expect(check(json) ? [] : check.errors, `body by ${schema}`).toEqual([])
  }

  /** Documented messages, with `<name>` in place of sent texts, and their codes. */
  const errors = new Map<string, ReadonlyArray<{ readonly message: RegExp; readonly summary: string | undefined }>>()
  const listErrors = (location: string, response: DocumentedResponse) => {
    const known = errors.get(location)
    if (known !== undefined) return known
    const patterns = Object.values(response.content["application/json"].examples).map(({ summary, value }) => {
      const text = String(Object(value).error.message)
        .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
        .replaceAll(/<[a-z]+>/g, "[^]*")
        .replace("101 were given", "\\d+ were given")
      return { message: new RegExp(`^${text}$`), summary }
    })
    errors.set(location, patterns)
    return patterns
  }

  const checkMessage = ({ headers, json }: Reply, location: string, response: DocumentedResponse) => {
    const { message } = Object(json).error
    const documented = listErrors(location, response).filter((error) => error.message.test(message))
    expect(documented.length, `a documented message: ${message}`).toBeGreaterThan(0)
    const codes = documented.map(({ summary }) => summary)
    expect(codes, "the documented code of this message").toContain(`X-Error-Code: ${headers["x-error-code"]}`)
  }

  const checkCall = (template: string, operation: Operation, reply: Reply) => {
    const { headers, json, status } = reply
    const [location, response] = findDocumented(template, operation, status)
    validate(`${location}/content/application~1json/schema`, json)
    const validateExactly = exactChecks.get(operation.operationId)
    if (status === 200 && validateExactly)
      expect(validateExactly(json) ? [] : validateExactly.errors, "body by the exact schema").toEqual([])
    if (status !== 200) checkMessage(reply, location, response)
    for (const name of Object.keys(response.headers)) {
      const header = Object(document.components.headers)[name]
      const value = headers[name.toLowerCase()]
      if (value === undefined) expect(header?.required, `documented header ${name}`).toBe(false)
      else if (header?.schema.type === "integer") expect(value, `documented header ${name}`).toMatch(/^\d+$/)
    }
    if (status === 401) {
      expect(headers["www-authenticate"]).toBe("Bearer")
      for (const name of keyHeaders) expect(headers, "a response to an unknown caller").not.toHaveProperty([name])
    } else if (status < 500) {
      for (const name of keyHeaders) expect(headers, "a response to a known caller").toHaveProperty([name])
      expect(headers["x-data-version"]).toMatch(/^larder-\d{6,}$/)
      expect(headers["x-data-origin"]).toMatch(/^(live|sample)$/)
      expect(headers["x-credits-remaining"]).toMatch(/^\d+$/)
      expect(headers["x-credits-charged"]).toBe(status === 200 ? String(operation["x-credits"]) : "0")
    }
  }

  const checkUnserved = ({ headers, json, status }: Reply, method: string) => {
    for (const name of keyHeaders) expect(headers, "a response without a check of the key").not.toHaveProperty([name])
    expectErrorCode({ headers }, status === 405 ? "method_not_allowed" : "no_such_endpoint")
    if (method === "HEAD") return
    validate("larder#/components/schemas/Error", json)
    expect(json).toHaveProperty("error.type", errorTypes[status])
  }

  return {
    document,
    findOperation,
    /** Checks the response to a request with this method and this path, without its query. */
    check: (method: string, path: string, reply: Reply) => {
      const { headers, status, text } = reply
      const found = findOperation(path)
      const id = headers["x-request-id"]
      expect(id, "every response has a unique id").toMatch(/^\S+$/)
      expect(requestIds.has(String(id)), "every response has a unique id").toBe(false)
      requestIds.add(String(id))
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
        checkCall(found.template, found.operation, reply)
        if (status === 200) expect(headers).not.toHaveProperty("x-error-code")
        else {
          expect(reply.json).toHaveProperty("error.type", errorTypes[status])
          expectErrorCode(reply)
        }
        return
      }
      checkUnserved(reply, method)
    }
  }
}

export type ResponseCheck = ReturnType<typeof makeResponseCheck>
