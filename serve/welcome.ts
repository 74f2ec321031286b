/** What `start` prints for people: where everything is, and what to try first. */

export interface Started {
  readonly addresses: { readonly api: string; readonly console: string }
  /** Public address of the console. */
  readonly consoleUrl: string
  readonly generation: string
  /** Whether each data set is in the warehouse. */
  readonly data_sets: Readonly<Record<string, boolean>>
  readonly isSimulated: boolean
}

export interface Demo {
  readonly key: string
  readonly balance_credits: number
  /** Undefined where somebody can sign in already. */
  readonly link: string | undefined
}

const examplePaths: Readonly<Record<string, string>> = {
  commodities: "commodities/prices?series=cheese-block-sales-price-weekly&from=2026-08-01",
  branded_foods: "branded-foods?name=cheddar&limit=2",
  storefronts: "stores?category=food_beverages_and_tobacco"
}

const firstSteps = [
  "",
  "Make an account and a key: npx larder-serve accounts create --help",
  "Let somebody into the console: npx larder-serve people invite --help"
]

const demoSteps = ({ balance_credits, key, link }: Demo, { addresses, data_sets }: Started) => [
  `  Demo key ${key}  (shown once; ${balance_credits} credits left)`,
  ...(link === undefined ? [] : ["", "Your way into the console, good once and for seven days:", `  ${link}`]),
  "",
  "Try:",
  ...Object.entries(examplePaths).flatMap(([dataSet, path]) =>
    data_sets[dataSet] ? [`  curl -H "Authorization: Bearer ${key}" "${addresses.api}/v1/${path}"`] : []
  )
]

export const welcome = (started: Started, demo: Demo | undefined): string => {
  const { addresses, consoleUrl, data_sets, generation, isSimulated } = started
  const listed = (loaded: boolean) =>
    Object.entries(data_sets)
      .flatMap(([name, is]) => (is === loaded ? [name] : []))
      .join(", ") || "none"
  return [
    `Larder serves ${generation}. Loaded: ${listed(true)}. Not loaded: ${listed(false)}.`,
    `  API      ${addresses.api}/v1`,
    `  Docs     ${addresses.api}/docs`,
    `  OpenAPI  ${addresses.api}/openapi.json`,
    `  MCP      ${addresses.api}/mcp`,
    `  Console  ${consoleUrl}${isSimulated ? "  (card payments are simulated: LARDER_STRIPE_KEY is not set)" : ""}`,
    ...(demo === undefined ? firstSteps : demoSteps(demo, started)),
    "",
    "Ctrl-C stops it."
  ].join("\n")
}
