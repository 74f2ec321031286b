/**
 * The tools, derived from the list of endpoints: one per endpoint, named like its operation. The input schema comes
 * from the parameters, and the description states the result. Every conversation of an assistant starts with this list,
 * so it is kept below 20 kB.
 */
import { type Endpoint, idSources, jsonSchema } from "@larder/schemas"
import type { Tool } from "@modelcontextprotocol/server"
import type { Route } from "../api/index.ts"
import { describeTool, toolName } from "./guidance.ts"

const makeIdInput = ({ record }: Endpoint) =>
  record === undefined
    ? {}
    : { id: { type: "string", minLength: 1, description: `Id of a ${record}, ${idSources[record]}.` } }

/**
 * Models often send names as a list. Some model APIs refuse a schema that has other members next to `anyOf`, so each
 * alternative has its own description.
 */
const makeNamesInput = (text: object, description: string) => ({
  anyOf: [
    { ...text, description },
    {
      type: "array",
      items: { type: "string", pattern: "^[^,]+$" },
      minItems: 1,
      maxItems: 100,
      description: "The same names as a list."
    }
  ]
})

const makeInputSchema = (endpoint: Endpoint): Tool["inputSchema"] => {
  const parameters = Object.entries(endpoint.parameters)
  return {
    type: "object",
    properties: {
      ...makeIdInput(endpoint),
      ...Object.fromEntries(
        parameters.map(([name, { description, example, kind, schema }]) => {
          const input = { ...jsonSchema(schema), ...(example !== undefined && { examples: [example] }) }
          return [name, kind === "list" ? makeNamesInput(input, description) : { ...input, description }]
        })
      )
    },
    required: [
      ...(endpoint.record === undefined ? [] : ["id"]),
      ...parameters.flatMap(([name, { required }]) => (required ? [name] : []))
    ],
    additionalProperties: false
  }
}

const makeTool = (endpoint: Endpoint): Tool => ({
  name: toolName(endpoint.id),
  title: endpoint.summary,
  description: describeTool(endpoint),
  inputSchema: makeInputSchema(endpoint),
  annotations: {
    title: endpoint.summary,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true, // a repeated call is charged again, and changes nothing else
    openWorldHint: false // responses come from the warehouse only
  },
  _meta: { "larder/credits": endpoint.credits, "larder/scope": endpoint.scope }
})

export const makeTools = (
  routes: ReadonlyArray<Route>
): ReadonlyArray<{ readonly route: Route; readonly tool: Tool }> =>
  routes.map((route) => ({ route, tool: JSON.parse(replaceApiWords(JSON.stringify(makeTool(route.endpoint)))) }))

/** Replacements in descriptions for models, which have tools and arguments instead of endpoints and parameters. */
const toolWords: ReadonlyArray<readonly [apiWords: string, toolWords: string]> = [
  ["the two endpoints below return", "get_commodity_prices and get_commodity_metric_values return"],
  ["the branded-food search", "search_branded_foods"],
  ["the categories endpoint", "get_branded_food_categories"],
  ["the store search", "search_stores"],
  ["a store's products return it", "get_store_products returns it"],
  ["The product endpoint", "get_product"],
  ["this endpoint", "this tool"],
  ["without parameters", "without arguments"],
  ["kinds of parameters", "kinds of arguments"]
]

const replaceApiWords = (text: string): string =>
  toolWords.reduce((result, [from, to]) => result.replaceAll(from, to), text)
