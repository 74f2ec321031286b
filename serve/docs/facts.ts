/**
 * Facts in the guides about endpoints, prices, limits and errors. They come from the values that the server itself
 * uses, so that no number is written twice. A guide names a fact as `{{name}}`.
 */
import {
  codeNames,
  dailySpendCapReached,
  type Endpoint,
  endpoints,
  errorCodes,
  errorTypes,
  foreignCursor,
  insufficientBalance,
  monthlySpendCapReached,
  templateOf,
  weeklySpendCapReached
} from "@larder/schemas"
import { maxPayment, maxTrigger, minPayment, minTrigger, presets } from "../billing/index.ts"
import { usdOf } from "../ledger/index.ts"

const count = (value: number) => value.toLocaleString("en-US")
/** With "or" before the last item, and no comma there. */
const oneOf = new Intl.ListFormat("en-GB", { type: "disjunction" })
const usd = (credits: number) => usdOf(credits).toFixed(2)
const wholeUsd = (cents: number) => `${count(cents / 100)} USD`

const table = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [headings, headings.map((heading) => (heading.startsWith(">") ? "---:" : "---")), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replace(/^>/, "").replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n")

const call = ({ path }: Endpoint) => `\`GET ${templateOf(path)}\``

const endpointTable = (chosen: ReadonlyArray<Endpoint>) =>
  table(
    ["Endpoint", "Answers", "Scope", ">Credits", ">USD"],
    chosen.map((endpoint) => [
      call(endpoint),
      endpoint.summary,
      `\`${endpoint.scope}\``,
      String(endpoint.credits),
      usd(endpoint.credits)
    ])
  )

/** The endpoint itself states its page sizes: it is given a far too large limit, and reduces or rejects it. */
const limitRow = (endpoint: Endpoint): ReadonlyArray<string> => {
  const sizeOf = (text?: string) => {
    const read = endpoint.read(new URLSearchParams(text === undefined ? {} : { limit: text }))
    return "value" in read ? String(read.value.limit) : read.invalid
  }
  const above = sizeOf("999999999999")
  const [largest = ""] = /\d+/.exec(above) ?? []
  const isServed = above === largest
  return [call(endpoint), sizeOf(), largest, isServed ? `served as ${largest}` : `400, \`${above}\``]
}

const parameterTable = (endpoint: Endpoint) =>
  table(
    ["Parameter", "Meaning"],
    Object.entries(endpoint.parameters).map(([name, { description, required }]) => [
      `\`${name}\``,
      required ? `Required. ${description}` : description
    ])
  )

const perEndpoint = endpoints.flatMap(
  (endpoint): ReadonlyArray<readonly [string, string]> => [
    [`credits ${endpoint.id}`, String(endpoint.credits)],
    [`usd ${endpoint.id}`, usd(endpoint.credits)],
    [`scope ${endpoint.id}`, endpoint.scope],
    [`parameters ${endpoint.id}`, parameterTable(endpoint)]
  ]
)

const perTag = [...new Set(endpoints.map(({ tag }) => tag))].map(
  (tag) => [`endpoints ${tag}`, endpointTable(endpoints.filter((endpoint) => endpoint.tag === tag))] as const
)

/** A heading for each code: error answers link to it. */
const codes = codeNames
  .map((code) => {
    const { advice, meaning, status, type } = errorCodes[code]
    return `### \`${code}\`\n\n${status}, \`${type}\`. ${meaning} ${advice}`
  })
  .join("\n\n")

const facts: ReadonlyMap<string, string> = new Map([
  ...perEndpoint,
  ...perTag,
  ["endpoints", endpointTable(endpoints)],
  [
    "limits",
    table(
      ["Endpoint", ">Default", ">Largest", "Above"],
      endpoints.filter(({ parameters }) => "limit" in parameters).map(limitRow)
    )
  ],
  [
    "errors",
    table(
      ["Status", "`error.type`", "When"],
      errorTypes.map(({ description, status, type }) => [String(status), `\`${type}\``, description])
    )
  ],
  ["codes", codes],
  ["message insufficientBalance", insufficientBalance.message],
  ["message dailySpendCapReached", dailySpendCapReached.message],
  ["message weeklySpendCapReached", weeklySpendCapReached.message],
  ["message monthlySpendCapReached", monthlySpendCapReached.message],
  ["message foreignCursor", foreignCursor.invalid],
  ["presets", oneOf.format(presets.map((cents) => count(cents / 100)))],
  ["cheapest payment", wholeUsd(minPayment)],
  ["dearest payment", wholeUsd(maxPayment)],
  ["lowest trigger", wholeUsd(minTrigger / 10)],
  ["highest trigger", wholeUsd(maxTrigger / 10)]
])

/** Fills the facts into a guide. `api` is the API's address for the reader. */
export const fillFacts = (markdown: string, api: string): string =>
  markdown.replace(/\{\{([^}]+)\}\}/g, (_, name: string) => {
    const fact = name === "api" ? api : facts.get(name)
    if (fact === undefined)
      throw new Error(`a guide names the fact {{${name}}}, which serve/docs/facts.ts does not know`)
    return fact
  })
