/**
 * Facts in the guides about endpoints, prices, limits and errors. They come from the values that the server itself
 * uses, so that no number is written twice. A guide names a fact as `{{name}}`.
 */
import {
  codeNames,
  type Endpoint,
  endpoints,
  errorCodes,
  errorTypes,
  foreignCursor,
  insufficientBalance,
  monthlySpendCapReached,
  templateOf
} from "@larder/schemas"
import type { CommodityModel } from "@larder/warehouse"
import { amountPresets, maxPayment, maxTrigger, minPayment, minTrigger } from "../billing/index.ts"
import { usdOf } from "../ledger/index.ts"

const formatCount = (value: number) => value.toLocaleString("en-US")
/** `10, 25 or 50` */
const orList = new Intl.ListFormat("en-GB", { type: "disjunction" })
const formatUsd = (credits: number) => usdOf(credits).toFixed(2)
const formatWholeUsd = (cents: number) => `${formatCount(cents / 100)} USD`

const formatTable = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [headings, headings.map((heading) => (heading.startsWith(">") ? "---:" : "---")), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replace(/^>/, "").replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n")

const formatCall = ({ path }: Endpoint) => `\`GET ${templateOf(path)}\``

const listEndpoints = (endpoints: ReadonlyArray<Endpoint>) =>
  formatTable(
    ["Endpoint", "Returns", "Scope", ">Credits", ">USD"],
    endpoints.map((endpoint) => [
      formatCall(endpoint),
      endpoint.summary,
      `\`${endpoint.scope}\``,
      String(endpoint.credits),
      formatUsd(endpoint.credits)
    ])
  )

/** Reads the page sizes from the endpoint: it reduces or rejects a limit that is far too large. */
const describeLimit = (endpoint: Endpoint): ReadonlyArray<string> => {
  const readLimit = (text?: string) => {
    const parsed = endpoint.parse(new URLSearchParams(text === undefined ? {} : { limit: text }))
    return "value" in parsed ? String(parsed.value.limit) : parsed.invalid
  }
  const oversized = readLimit("999999999999")
  const [largest = ""] = /\d+/.exec(oversized) ?? []
  const isServed = oversized === largest
  return [formatCall(endpoint), readLimit(), largest, isServed ? `served as ${largest}` : `400, \`${oversized}\``]
}

const listParameters = (endpoint: Endpoint) =>
  formatTable(
    ["Parameter", "Meaning"],
    Object.entries(endpoint.parameters).map(([name, { description, required }]) => [
      `\`${name}\``,
      required ? `Required. ${description}` : description
    ])
  )

const endpointFacts = endpoints.flatMap((endpoint): ReadonlyArray<readonly [string, string]> => {
  const { credits, id, scope } = endpoint
  return [
    [`credits ${id}`, String(credits)],
    [`usd ${id}`, formatUsd(credits)],
    [`scope ${id}`, scope],
    [`parameters ${id}`, listParameters(endpoint)]
  ]
})

/** Reports, and by when they usually publish. */
const listReports = ({ metrics }: CommodityModel): string => {
  const rows = new Map(
    [...metrics.values()].map(({ publishes_on, report, source }) => [report, [report, `\`${source}\``, publishes_on]])
  )
  return formatTable(
    ["Report", "Source", "Usually published by"],
    [...rows].sort().map(([, row]) => row)
  )
}

/** Units that a metric has, with their names in words. */
const listUnits = ({ metrics }: CommodityModel): string => {
  const units = new Map([...metrics.values()].map(({ unit, unit_text }) => [unit, unit_text]))
  return formatTable(
    ["Unit", "Meaning"],
    [...units].sort().map(([unit, text]) => [`\`${unit}\``, text])
  )
}

/** Withheld series are not in the model, and so in no guide. */
const listSeries = ({ series }: CommodityModel): string =>
  series.size === 0
    ? "This server has not loaded the commodities yet."
    : formatTable(
        ["Series", "Values", "Notes"],
        [...series].map(([slug, { metric }]) => [
          `\`${slug}\``,
          `${metric.title}. ${metric.frequency_text}. ${metric.unit_text}.`,
          metric.notes ?? ""
        ])
      )

const endpointsByFact = Map.groupBy(endpoints, ({ tag }) => `endpoints ${tag}`)

/** Error responses link to the heading of their code. */
const codes = codeNames
  .map((code) => {
    const { advice, meaning, status, type } = errorCodes[code]
    return `### \`${code}\`\n\n${status}, \`${type}\`. ${meaning} ${advice}`
  })
  .join("\n\n")

const facts: ReadonlyMap<string, string> = new Map([
  ...endpointFacts,
  ...[...endpointsByFact].map(([name, tagged]) => [name, listEndpoints(tagged)] as const),
  ["endpoints", listEndpoints(endpoints)],
  [
    "limits",
    formatTable(
      ["Endpoint", ">Default", ">Largest", "Above"],
      endpoints.filter(({ parameters }) => "limit" in parameters).map(describeLimit)
    )
  ],
  [
    "errors",
    formatTable(
      ["Status", "`error.type`", "When"],
      errorTypes.map(({ description, status, type }) => [String(status), `\`${type}\``, description])
    )
  ],
  ["codes", codes],
  ["message insufficientBalance", insufficientBalance.message],
  ["message monthlySpendCapReached", monthlySpendCapReached.message],
  ["message foreignCursor", foreignCursor.invalid],
  ["presets", orList.format(amountPresets.map((cents) => formatCount(cents / 100)))],
  ["smallest payment", formatWholeUsd(minPayment)],
  ["largest payment", formatWholeUsd(maxPayment)],
  ["lowest trigger", formatWholeUsd(minTrigger / 10)],
  ["highest trigger", formatWholeUsd(maxTrigger / 10)]
])

/** What the guides say about this server. */
export interface ServerFacts {
  /** The API's address for the reader. */
  readonly api: string
  readonly commodities: CommodityModel
}

/** Inserts the facts into a guide. */
export const replacePlaceholders = (markdown: string, { api, commodities }: ServerFacts): string => {
  const ofServer = new Map([
    ["api", () => api],
    ["series", () => listSeries(commodities)],
    ["reports", () => listReports(commodities)],
    ["units", () => listUnits(commodities)]
  ])
  return markdown.replace(/\{\{([^}]+)\}\}/g, (_, name: string) => {
    const fact = ofServer.get(name)?.() ?? facts.get(name)
    if (fact === undefined) throw new Error(`a guide contains the unknown fact {{${name}}}; see serve/docs/facts.ts`)
    return fact
  })
}
