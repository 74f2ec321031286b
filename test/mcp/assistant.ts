/**
 * Assistants for tests: the protocol's official client, and plain POSTs for requests that it never sends. The charges that
 * results state are recorded together with those of the plain API.
 */
import { codeNames, endpoints, openApi, templateOf } from "@larder/schemas"
import { toolName } from "@larder/serve/mcp/guidance.ts"
import type { Transport } from "@modelcontextprotocol/client"
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport
} from "@modelcontextprotocol/client"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { expect } from "vitest"
import { bearer, type Charge } from "../support/api/client.ts"

export const endpointsByTool = new Map(endpoints.map((endpoint) => [toolName(endpoint.id), endpoint]))
export const toolNames = [...endpointsByTool.keys()]

/** "auto" uses the newest common revision, "legacy" one with a handshake. */
export type Mode = "auto" | "legacy"

export const makeHttpTransport = (api: string, key: string): Transport =>
  new StreamableHTTPClientTransport(new URL(`${api}/mcp`), { requestInit: { headers: bearer(key) } })

export const connectClient = async (transport: Transport, mode: Mode, options: ClientOptions = {}): Promise<Client> => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode }, ...options })
  await client.connect(transport)
  return client
}

const readNumber = (value: unknown) => (typeof value === "number" ? value : undefined)

/** Reads a result as a client does. */
export const readResult = (result: CallToolResult) => {
  const [body, cost] = result.content.map((item) => (item.type === "text" ? item.text : item.type))
  return {
    body: body ?? "",
    cost: cost ?? "",
    structured: result.structuredContent,
    isError: result.isError === true,
    requestId: String(result._meta?.["larder/request_id"]),
    charged: readNumber(result._meta?.["larder/credits_charged"]),
    remaining: readNumber(result._meta?.["larder/credits_remaining"]),
    version: result._meta?.["larder/data_version"],
    origin: result._meta?.["larder/data_origin"],
    code: result._meta?.["larder/error_code"]
  }
}
export type ToolResult = ReturnType<typeof readResult>

const {
  components: { schemas },
  paths
} = openApi()
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }) // days also have a pattern
/** By tool; compiled once, because that takes longer than many calls. */
const checks = new Map<string, ValidateFunction>()

/** For clients, the document leaves objects open. A result must have only the listed fields. */
const closeObject = (_name: string, node: unknown) =>
  typeof node === "object" && node !== null && "properties" in node ? { additionalProperties: false, ...node } : node

const findCheck = (name: string, isError: boolean): ValidateFunction => {
  const known = checks.get(`${name} ${isError}`)
  if (known !== undefined) return known
  const response = paths[templateOf(endpointsByTool.get(name)?.path ?? "")]?.get.responses["200"]
  const schema =
    isError || response === undefined || "$ref" in response
      ? schemas.Error
      : response.content["application/json"].schema
  const check = ajv.compile(JSON.parse(JSON.stringify({ ...schema, components: { schemas } }), closeObject))
  checks.set(`${name} ${isError}`, check)
  return check
}

/** Compares a result with the API's documented response: the operation's 200, or an error. */
const checkResult = (name: string, { code, isError, structured }: ToolResult) => {
  if (isError) expect(codeNames).toContain(code)
  else expect(code).toBeUndefined()
  const check = findCheck(name, isError)
  expect(check(structured) ? [] : check.errors, `result of ${name}`).toEqual([])
}

/** Calls a tool and checks its result. Adds the charge that it states to `charges`, which are compared with the ledger. */
export const makeCall =
  (charges: () => Array<Charge>) =>
  async (client: Client, name: string, given: Readonly<Record<string, unknown>> = {}): Promise<ToolResult> => {
    const result = readResult(await client.callTool({ name, arguments: given }))
    checkAndRecord(charges(), name, result)
    return result
  }

export const checkAndRecord = (charges: Array<Charge>, name: string, result: ToolResult) => {
  checkResult(name, result)
  const { charged, isError, requestId } = result
  const endpoint = endpointsByTool.get(name)
  if (isError || endpoint === undefined) return
  charges.push({ request_id: requestId, credits: charged ?? 0, endpoint: templateOf(endpoint.path) })
}

/** `402 insufficient_balance: …` without the status, which a tool does not have. */
export const formatError = ({ structured }: ToolResult): string => {
  const { error } = structured as { readonly error: { readonly type: string; readonly message: string } }
  return `${error.type}: ${error.message}`
}

interface Posted {
  readonly status: number
  readonly headers: Headers
  /** Empty if the response has no body. */
  readonly message: {
    readonly result?: CallToolResult & Readonly<Record<string, unknown>>
    readonly error?: { readonly code?: number; readonly type?: string; readonly message: string }
  }
}

interface PostOptions {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
}

/** A text `body` is sent unchanged. */
export const post = async (
  api: string,
  body: unknown,
  { headers, key, method = "POST" }: PostOptions
): Promise<Posted> => {
  const response = await fetch(`${api}/mcp`, {
    method,
    headers: {
      ...(key !== undefined && bearer(key)),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, message: text === "" ? {} : JSON.parse(text) }
}

export const makeRequest = (
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  id: number | string = 1
) => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

const prices = { series: "cheese-block-sales-price-weekly,butter-sales-price-weekly", from: "2026-08-01" }

/** Tools of three scopes that need no id of an earlier result, with arguments that find something. */
export const toolsOfThreeScopes: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  search_commodities: { category: "dairy", limit: 3 },
  get_commodity_prices: prices,
  get_commodity_metric_values: { metrics: "butter_sales_price_weekly" },
  search_stores: { limit: "1" }
}
export const threeScopes = ["search-commodities", "get-commodity-prices", "search-stores"] as const

/** For a key with these scopes: only its tools are listed, and calls of all others are refused. */
export const expectOnlyToolsOfThreeScopes = async (
  client: Client,
  call: ReturnType<typeof makeCall>
): Promise<void> => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(toolsOfThreeScopes))
  for (const name of toolNames) {
    const given = toolsOfThreeScopes[name]
    const result = await call(client, name, given ?? {})
    expect([name, result.isError]).toEqual([name, given === undefined])
    if (given === undefined) expect(formatError(result)).toMatch(/^forbidden: This key is not scoped to /)
  }
}
