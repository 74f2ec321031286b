/**
 * The tools, derived from the list of endpoints: one for each, named like its operation. Their schemas are the endpoint's
 * own: parameters make the input, the response or an error makes the output.
 */
import { ErrorBody } from "@larder/schemas/api-errors.ts"
import type { Endpoint } from "@larder/schemas/endpoint.ts"
import { componentSchemas, jsonSchema } from "@larder/schemas/json-schema.ts"
import { idSources } from "@larder/schemas/openapi/texts.ts"
import type { Tool } from "@modelcontextprotocol/server"
import type { Route } from "../route.ts"
import { describe, toolNameOf } from "./guidance.ts"
import { inToolWords } from "./tool-words.ts"

export interface RoutedTool {
  readonly route: Route
  readonly tool: Tool
}

/** The id in the path is an argument like the others. */
const idInput = ({ record }: Endpoint) =>
  record === undefined
    ? {}
    : { id: { type: "string", minLength: 1, description: `Id of a ${record}, ${idSources[record]}.` } }

const inputOf = (endpoint: Endpoint): Tool["inputSchema"] => {
  const parameters = Object.entries(endpoint.parameters)
  return {
    type: "object",
    properties: {
      ...idInput(endpoint),
      ...Object.fromEntries(
        parameters.map(([name, { description, example, schema }]) => [
          name,
          { ...jsonSchema(schema), description, ...(example !== undefined && { examples: [example] }) }
        ])
      )
    },
    required: [
      ...(endpoint.record === undefined ? [] : ["id"]),
      ...parameters.flatMap(([name, { required }]) => (required ? [name] : []))
    ],
    additionalProperties: false
  }
}

/**
 * Errors are in it, too: many clients hold every structured result against this schema, also that of a failed call. The
 * root says `object` because older revisions ask for it.
 */
const outputOf = ({ response }: Endpoint): NonNullable<Tool["outputSchema"]> => {
  const { components, schemas } = componentSchemas([response, ErrorBody])
  const text = JSON.stringify({ type: "object", anyOf: schemas, $defs: components })
  return JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/"))
}

const toolOf = (endpoint: Endpoint): Tool => ({
  name: toolNameOf(endpoint.id),
  title: endpoint.summary,
  description: describe(endpoint),
  inputSchema: inputOf(endpoint),
  outputSchema: outputOf(endpoint),
  annotations: {
    title: endpoint.summary,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true, // a repeated call is charged again, and changes nothing else
    openWorldHint: false // answers come from the warehouse alone
  },
  _meta: { "larder/credits": endpoint.credits, "larder/scope": endpoint.scope }
})

export const toolsFor = (routes: ReadonlyArray<Route>): ReadonlyArray<RoutedTool> =>
  routes.map((route) => ({ route, tool: JSON.parse(inToolWords(JSON.stringify(toolOf(route.endpoint)))) }))
