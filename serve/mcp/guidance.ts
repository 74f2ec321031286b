/** Texts for models: the description of each tool, the instructions of the server, and the cost of a call. */
import { componentSchemas, dataSets, type Endpoint, endpoints } from "@larder/schemas"
import type { Schema } from "effect"

/** `searchBrandedFoods` becomes the tool `search_branded_foods`. */
export const toolName = (endpointId: string): string =>
  endpointId.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)

const formatUsd = (credits: number) => (credits / 1000).toFixed(2)

const paging =
  "A page of rows ends with `next_cursor`. While it is not null, more rows follow: call again with the same arguments and `cursor` set to it. Every page is charged."

/**
 * The description of a tool: its result, when to use it, its paging and its cost. It lists the members of a result
 * instead of an output schema, which would be three times as long as all the rest, and which models do not see.
 */
export const describeTool = ({ credits, description, parameters, response, summary, use }: Endpoint): string =>
  [
    `${summary}. ${description}`,
    use,
    `Returns \`${describeMembers(response)}\`.`,
    ...("cursor" in parameters ? [paging] : []),
    `Costs ${credits} credits (${formatUsd(credits)} USD) for a response of any size; errors cost nothing.`
  ].join("\n\n")

const prices = [...new Set(endpoints.map(({ credits }) => credits))]
  .toSorted((a, b) => a - b)
  .map((credits) => `${credits} credits (${formatUsd(credits)} USD)`)
  .join(" or ")

const origins = new Intl.ListFormat("en-US").format(dataSets.map(({ origin }) => origin))

/** A client shows this text about the whole server to its model. */
export const instructions = `Larder returns data of these data sets: ${origins}. All tools only read.

Every successful tool call spends real money of the key's owner: ${prices}, as the tool states. Listing tools is free, and so are errors. Each result states what it cost and what the key can still spend. Do not call to see what happens; request many series or a large page in one call instead of many; ask the user before a job of more than a few dozen calls.

Ids, slugs, metric names and cursors are opaque: use those of an earlier result, never make them up. An error is { error: { type, message } }. Retry only "internal", with exponential back-off. "insufficient_balance" means that the balance is used up, or the monthly budget of the key, as the message states: stop, and tell the user. Numbers in the text of a result have the digits as published. A missing value is null. A tool that is named here or in a description but is not listed is outside this key's scopes: do without it, or tell the user.`

export const formatCost = (charged: number, remaining: number) =>
  `Charged ${charged} credits (${formatUsd(charged)} USD); the key can still spend ${remaining} (${formatUsd(remaining)} USD).`

interface Node {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Node>
  readonly type?: string
  readonly items?: Node
  readonly properties?: Readonly<Record<string, Node>>
}

/**
 * The members of a response on one line: names and nesting of its schema, without types. For example
 * `{ data: [{ id, price: { min, max } }], next_cursor }`. Alternatives are joined by "or".
 */
const describeMembers = (response: Schema.Constraint): string => {
  const json: { readonly schemas: ReadonlyArray<Node>; readonly components: Readonly<Record<string, Node>> } =
    JSON.parse(JSON.stringify(componentSchemas([response])))
  const describeNode = ({ $ref, anyOf = [], items, properties }: Node): string => {
    if ($ref !== undefined) return describeNode(json.components[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {})
    if (items !== undefined) {
      const item = describeNode(items)
      return item === "" ? "" : `[${item}]`
    }
    if (properties === undefined) return anyOf.map(describeNode).filter(Boolean).join(" or ")
    const members = Object.entries(properties).map(([name, value]) => {
      const nested = describeNode(value)
      return nested === "" ? name : `${name}: ${nested}`
    })
    return `{ ${members.join(", ")} }`
  }
  return json.schemas.map(describeNode).join()
}
