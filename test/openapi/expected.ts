/** What the document says about a request: the statuses that may answer it, and why. */
import { foreignCursor, isDay, type OpenApiOperation, type SchemaObject } from "@larder/schemas"
import type { Known } from "./known.ts"
import type { Asked, Caller } from "./requests.ts"

const takes = (schema: SchemaObject, text: string): boolean => {
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

/** Whether the document takes the query: known names, each once, the required ones among them, with values of their form. */
const isValid = ({ parameters }: OpenApiOperation, query: URLSearchParams): boolean => {
  const names = [...query.keys()]
  const taken = parameters.filter((parameter) => parameter.in === "query")
  return (
    new Set(names).size === names.length &&
    names.every((name) => taken.some((parameter) => parameter.name === name)) &&
    taken.every(({ name, required, schema }) => (query.has(name) ? takes(schema, query.get(name) ?? "") : !required))
  )
}

/** What schemas cannot say: how parameters hang together, and which names there are. The message of the 400. */
const brokenRule = ({ operation }: Asked, query: URLSearchParams, known: Known): string | undefined => {
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

/** A cursor belongs to its endpoint, its id and its filters; those that are known come from calls without filters. */
const isForeign = ({ operation }: Asked, id: string, query: URLSearchParams, known: Known): boolean => {
  const cursor = query.get("cursor")
  if (cursor === null || cursor === "") return false
  const filters = [...query].filter(([name, value]) => !["cursor", "limit"].includes(name) && value !== "")
  return !(filters.length === 0 && known.get(`${operation.operationId} cursor ${id}`)?.includes(cursor))
}

const decoded = (id: string): string => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** The id that a path holds, decoded; undefined where it names another path: dot segments, as URLs read them. */
export const idIn = ({ target, template }: Asked): string | undefined => {
  const place = template.split("/").indexOf("{id}")
  if (place === -1) return ""
  const [path = ""] = target.split("?", 1)
  const sent = path.split("/")[place] ?? ""
  return sent === "" || /^(\.|%2e){1,2}$/i.test(sent) ? undefined : decoded(sent)
}

const unknownCallers: ReadonlySet<Caller> = new Set(["nobody", "stranger", "mumbler"])

export interface Expected {
  readonly status: number
  /** Where the document leaves no choice. */
  readonly message?: string
}

/** In the order in which a request meets refusals. */
export const expected = (asked: Asked, scopes: ReadonlySet<string>, known: Known): Expected => {
  const { caller, operation, target } = asked
  const id = idIn(asked)
  if (id === undefined) return { status: 404, message: "No such endpoint" }
  if (unknownCallers.has(caller)) return { status: 401 }
  if (!scopes.has(operation["x-scope"]))
    return { status: 403, message: `This key is not scoped to ${operation["x-scope"]}` }
  const query = new URLSearchParams(target.includes("?") ? target.slice(target.indexOf("?") + 1) : "")
  if (!isValid(operation, query)) return { status: 400 }
  const message = brokenRule(asked, query, known)
  if (isForeign(asked, id, query, known))
    return { status: 400, ...(message === undefined && { message: foreignCursor.invalid }) }
  if (message !== undefined) return { status: 400, message }
  if (caller === "broke") return { status: 402, message: "Insufficient balance" }
  if (caller === "paused") return { status: 402, message: "Monthly spend cap reached" }
  const isKnown = id === "" || known.get(`${operation.operationId} id`)?.includes(id)
  return { status: isKnown ? 200 : 404 }
}
