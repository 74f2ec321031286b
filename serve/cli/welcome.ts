/** The text that `start` prints for people: the addresses, and first steps. */
import { dataSets } from "@larder/schemas"

interface StartedServer {
  /** Public address of the API, or the one at which this machine reaches it. */
  readonly apiUrl: string
  /** Public address of the console, or the one at which this machine reaches it. */
  readonly consoleUrl: string
  /** The console listens on all interfaces, and its address for other machines is not configured. */
  readonly isOnAllInterfaces: boolean
  readonly generation: string
  readonly data_sets: Readonly<Record<string, boolean>>
  readonly payments: "simulated" | "test" | "live"
}

interface Demo {
  readonly key: string | undefined
  readonly balance_credits: number
  /** Undefined if a person can already sign in. */
  readonly link: string | undefined
}

const aboutPayments = {
  simulated: "  (card payments are simulated: LARDER_STRIPE_KEY is not set)",
  test: "  (card payments run in Stripe's test mode: LARDER_STRIPE_KEY is a test key)",
  live: ""
}

const firstSteps = [
  "",
  "Create an account and a key: npx larder-serve accounts create --help",
  "Invite a person to the console: npx larder-serve people invite --help"
]

const listFirstCalls = (key: string, { apiUrl, data_sets }: StartedServer) => [
  "",
  "Try:",
  ...dataSets.flatMap(({ firstCall, pipeline }) =>
    data_sets[pipeline.replaceAll("-", "_")]
      ? [`  curl -H "Authorization: Bearer ${key}" "${apiUrl}/v1/${firstCall}"`]
      : []
  )
]

const listDemoSteps = ({ balance_credits, key, link }: Demo, started: StartedServer) => [
  key === undefined
    ? "  No demo key was created: see the log."
    : `  Demo key ${key}  (shown once; ${balance_credits} credits left)`,
  ...(link === undefined ? [] : ["", "One-time link to the console, valid for seven days:", `  ${link}`]),
  ...(key === undefined ? [] : listFirstCalls(key, started))
]

export const formatWelcome = (started: StartedServer, demo: Demo | undefined): string => {
  const { apiUrl, consoleUrl, data_sets, generation, isOnAllInterfaces, payments } = started
  const listDataSets = (loaded: boolean) =>
    Object.entries(data_sets)
      .flatMap(([name, isLoaded]) => (isLoaded === loaded ? [name] : []))
      .join(", ") || "none"
  return [
    `Larder serves ${generation}. Loaded: ${listDataSets(true)}. Not loaded: ${listDataSets(false)}.`,
    `  API      ${apiUrl}/v1`,
    `  Docs     ${apiUrl}/docs`,
    `  OpenAPI  ${apiUrl}/openapi.json`,
    `  MCP      ${apiUrl}/mcp`,
    `  Console  ${consoleUrl}${aboutPayments[payments]}`,
    ...(isOnAllInterfaces
      ? ["  Links point to this machine. To share them, set LARDER_CONSOLE_URL to an address that others can reach."]
      : []),
    ...(demo === undefined ? firstSteps : listDemoSteps(demo, started)),
    "",
    "Ctrl-C stops it."
  ].join("\n")
}
