/** `/llms.txt`: an overview of the API for language models, in the format of llmstxt.org. */
import { type Endpoint, endpoints, templateOf } from "@larder/schemas"
import { formatSampleLine } from "../api/index.ts"
import { guides } from "./guides.ts"

const formatEndpoint = ({ credits, path, scope, summary }: Endpoint) =>
  `- \`GET ${templateOf(path)}\`: ${summary}. ${credits} credits, scope \`${scope}\`.`

export const renderLlmsText = (api: string, sampleNotice: string | undefined): string => {
  const [overview, ...others] = guides()
  return `# Larder

> ${overview?.summary ?? ""}

${formatSampleLine(sampleNotice)}Every call is a GET with \`Authorization: Bearer <key>\`, every response is JSON. Calls cost credits (1,000 credits are 1.00 USD); only a 200 is charged. Retry 5xx only. Unknown query parameters are errors, and their message names the nearest known parameter.

## Endpoints

${endpoints.map(formatEndpoint).join("\n")}

## Docs

- [OpenAPI 3.1](${api}/openapi.json): every parameter, response and error
- [Overview](${api}/docs.md): ${overview?.title ?? ""}
${others.map(({ path, summary, title }) => `- [${title}](${api}${path}.md): ${summary}`).join("\n")}

## Assistants

- [Model Context Protocol](${api}/mcp): the endpoints as tools, over streamable HTTP with the same bearer key

## Optional

- [Reference](${api}/docs/reference): the same for people, with calls to try
`
}
