/** `/llms.txt`: what a model should know before it reads further. The format is that of llmstxt.org. */
import { type Endpoint, endpoints, templateOf } from "@larder/schemas"
import { sampleLine } from "../api/index.ts"
import { guides } from "./guides.ts"

const priced = ({ credits, path, scope, summary }: Endpoint) =>
  `- \`GET ${templateOf(path)}\`: ${summary}. ${credits} credits, scope \`${scope}\`.`

export const renderLlmsText = (api: string, samples: string | undefined): string => {
  const [overview, ...others] = guides()
  return `# Larder

> ${overview?.summary ?? ""}

${sampleLine(samples)}Every call is a GET with \`Authorization: Bearer <key>\`, every answer is JSON. Calls are paid in credits (1,000 credits are 1.00 USD); only a 200 is charged. Retry 5xx only. Unknown query parameters are errors, and name the nearest known one.

## Endpoints

${endpoints.map(priced).join("\n")}

## Docs

- [OpenAPI 3.1](${api}/openapi.json): every parameter, answer and error
- [Overview](${api}/docs.md): ${overview?.title ?? ""}
${others.map(({ path, summary, title }) => `- [${title}](${api}${path}.md): ${summary}`).join("\n")}

## Assistants

- [Model Context Protocol](${api}/mcp): the endpoints as tools, over streamable HTTP with the same bearer key

## Optional

- [Reference](${api}/docs/reference): the same for people, with calls to try
`
}
