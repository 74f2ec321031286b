/** `larder-ingest catalog check`: checks the operator's own catalog, and says what is in force. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import type { CatalogFaulty, CatalogInForce } from "../commodities/catalog/in-force.ts"
import { CommandFailed, jsonFlag, quietFlag, quietly } from "./flags.ts"

const describe = ({ bundled, catalog: inForce, own }: CatalogInForce) => ({
  folder: own?.folder ?? null,
  bundled: {
    feeds: bundled.feeds.length,
    metrics: bundled.metrics.length,
    products: bundled.products.length,
    series: bundled.series.length
  },
  own_feeds: inForce.feeds.filter(({ isOwn }) => isOwn).map(({ feed }) => feed),
  own_metrics: own?.metrics.map(({ metric_name }) => metric_name) ?? [],
  own_products: own?.products.map(({ slug }) => slug) ?? [],
  added_states: own?.addedStates ?? [],
  off: inForce.feeds
    .filter(({ isOff }) => isOff)
    .map(({ feed }) => ({
      feed,
      metrics: inForce.metrics.flatMap(({ feeds: [first], metric_name }) => (first === feed ? [metric_name] : []))
    })),
  faults: []
})
type Description = ReturnType<typeof describe>

const count = (rows: number, noun: string) => `${rows} ${noun}${rows === 1 ? "" : "s"}`
const list = (heading: string, lines: ReadonlyArray<string>) =>
  lines.length === 0 ? [] : [`${heading}:`, ...lines.map((line) => `  ${line}`)]

const format = ({ added_states, bundled, folder, off, own_feeds, own_metrics, own_products }: Description) => [
  `bundled: ${count(bundled.feeds, "feed")}, ${count(bundled.metrics, "metric")}, ${count(bundled.products, "product")}, ${bundled.series} series`,
  folder === null ? "LARDER_CATALOG is not set: only these are in force" : `LARDER_CATALOG: ${folder}`,
  ...list("own feeds", own_feeds),
  ...list("own metrics", own_metrics),
  ...list("own products", own_products),
  ...list(
    "added states",
    added_states.map(({ feed, states }) => `${feed}: ${states}`)
  ),
  ...list(
    "off",
    off.map(({ feed, metrics }) => (metrics.length === 0 ? feed : `${feed}: ${metrics.join(", ")}`))
  )
]

const printFaults = ({ faults, message }: CatalogFaulty, json: boolean) =>
  Effect.andThen(
    json
      ? Console.log(
          JSON.stringify({
            faults: faults.map(({ column, file, line, problem }) => ({ file, line, column, problem }))
          })
        )
      : Effect.void,
    Effect.fail(new CommandFailed({ code: 2, problem: message }))
  )

const checkCommand = Command.make(
  "check",
  { json: jsonFlag(), quiet: quietFlag },
  Effect.fn(function* ({ json }) {
    const { readCatalogInForce } = yield* Effect.promise(() => import("../commodities/catalog/in-force.ts"))
    const inForce = yield* readCatalogInForce.pipe(
      Effect.catchTag("CatalogFaulty", (faulty) => printFaults(faulty, json))
    )
    const described = describe(inForce)
    yield* Console.log(json ? JSON.stringify(described) : format(described).join("\n"))
  }, quietly)
).pipe(
  Command.withDescription(
    "Print which feeds and metrics are in force: the bundled ones and those of LARDER_CATALOG; exits with 2 if one of its lines is invalid"
  )
)

export const catalogCommand = Command.make("catalog").pipe(
  Command.withDescription("The catalog of reports, with your own lines"),
  Command.withSubcommands([checkCommand])
)
