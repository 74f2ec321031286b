/** The response that the document states for a request: its status, and the message if only one is possible. */
import { foreignCursor, isDay } from "@larder/schemas"
import type { Caller, GeneratedRequest, Operation } from "./generate-requests.ts"
import type { KnownNames } from "./known-names.ts"
import type { SchemaObject } from "./values.ts"

const accepts = (schema: SchemaObject, text: string): boolean => {
  if (schema.type === "integer") {
    if (!/^[0-9]+$/.test(text)) return false
    const number = BigInt(text)
    const { maximum, minimum } = schema
    return (
      (typeof minimum !== "number" || number >= BigInt(minimum)) &&
      (typeof maximum !== "number" || number <= BigInt(maximum))
    )
  }
  if (schema.format === "date") return isDay(text)
  return typeof schema.pattern !== "string" || new RegExp(schema.pattern, "u").test(text)
}

/** Whether the document accepts the query: known names, each once, all required ones, and valid values. */
const isValid = ({ parameters }: Operation, query: URLSearchParams): boolean => {
  const names = [...query.keys()]
  const declared = parameters.filter((parameter) => parameter.in === "query")
  return (
    new Set(names).size === names.length &&
    names.every((name) => declared.some((parameter) => parameter.name === name)) &&
    declared.every(({ name, required, schema }) =>
      query.has(name) ? accepts(schema, query.get(name) ?? "") : !required
    )
  )
}

/** The message of a 400 for rules that schemas cannot state: related parameters, and names in the catalog. */
const findBrokenRule = (
  { operation }: GeneratedRequest,
  query: URLSearchParams,
  known: KnownNames
): string | undefined => {
  const [from, to] = [query.get("from"), query.get("to")]
  if (from !== null && to !== null && from > to) return "from must not be after to"
  if (query.has("commodity") && ["category", "limit", "cursor"].some((name) => query.has(name)))
    return "commodity cannot be combined with category, limit or cursor"
  for (const name of ["series", "metrics"]) {
    const names = known.get(`${operation.operationId} ${name}`) ?? []
    const unknown =
      query
        .get(name)
        ?.split(",")
        .filter((text) => !names.includes(text)) ?? []
    if (unknown.length > 0) return `Unknown ${name}: ${name === "series" ? unknown[0] : unknown.join(", ")}`
  }
  return undefined
}

/** A cursor belongs to its endpoint, id and filters; the known cursors are from calls without filters. */
const isForeignCursor = (
  { operation }: GeneratedRequest,
  id: string,
  query: URLSearchParams,
  known: KnownNames
): boolean => {
  const cursor = query.get("cursor")
  if (cursor === null || cursor === "") return false
  const filters = [...query].filter(([name, value]) => !["cursor", "limit"].includes(name) && value !== "")
  return !(filters.length === 0 && known.get(`${operation.operationId} cursor ${id}`)?.includes(cursor))
}

const decodeId = (id: string): string => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** The id in the path, decoded; undefined if URL parsers read it as a dot segment, which makes another path. */
export const readId = ({ target, template }: GeneratedRequest): string | undefined => {
  const index = template.split("/").indexOf("{id}")
  if (index === -1) return ""
  const [path = ""] = target.split("?", 1)
  const sent = path.split("/")[index] ?? ""
  return sent === "" || /^(\.|%2e){1,2}$/i.test(sent) ? undefined : decodeId(sent)
}

const unknownCallers: ReadonlySet<Caller> = new Set(["no_key", "unknown_key", "malformed_key"])

interface ExpectedResponse {
  readonly status: number
  /** Undefined if several messages are possible. */
  readonly message?: string
}

/** Checks in the same order as the server. */
export const expectResponse = (
  request: GeneratedRequest,
  scopes: ReadonlySet<string>,
  known: KnownNames
): ExpectedResponse => {
  const { caller, operation, target } = request
  const id = readId(request)
  if (id === undefined) return { status: 404, message: "No such endpoint" }
  if (unknownCallers.has(caller)) return { status: 401 }
  if (!scopes.has(operation["x-scope"]))
    return { status: 403, message: `This key is not scoped to ${operation["x-scope"]}` }
  const query = new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : "")
  if (!isValid(operation, query)) return { status: 400 }
  const message = findBrokenRule(request, query, known)
  if (isForeignCursor(request, id, query, known))
    return { status: 400, ...(message === undefined && { message: foreignCursor.invalid }) }
  if (message !== undefined) return { status: 400, message }
  if (caller === "no_balance") return { status: 402, message: "Insufficient balance" }
  if (caller === "no_budget") return { status: 402, message: "Monthly spend cap reached" }
  const isKnown = id === "" || known.get(`${operation.operationId} id`)?.includes(id)
  return { status: isKnown ? 200 : 404 }
}
