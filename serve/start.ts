/** `larder-serve start`: opens the live generation and the ledger, listens, and stops in order when it is told to. */
import { layoutOf } from "@larder/warehouse/generation/layout.ts"
import { watchLive } from "@larder/warehouse/generation/live.ts"
import { type Cause, Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { makeConsole, type Readiness } from "./console.ts"
import { serveControl } from "./control.ts"
import { demoKey } from "./demo.ts"
import { makeApi } from "./http.ts"
import { embeddedLedger } from "./ledger/embedded/embedded-ledger.ts"
import { Ledger, type LedgerAccess } from "./ledger/ledger.ts"
import { postgresLedger } from "./ledger/postgres/postgres-ledger.ts"
import { ledgerDirectoryIn } from "./ledger/reach.ts"
import { listen } from "./listen.ts"
import { type Gauge, makeMeters } from "./meters.ts"
import manifest from "./package.json" with { type: "json" }
import { makePipeline, type Pipeline } from "./pipeline.ts"
import { loadReadModel } from "./read-model.ts"
import { routes } from "./routes/routes.ts"
import { serveSettings } from "./settings.ts"

const gaugesOf = (ledger: LedgerAccess, pipeline: Pipeline, swaps: () => number): ReadonlyArray<Gauge> => [
  gauge("larder_requests_in_flight", "Calls that are being answered.", () => pipeline.inFlight()),
  counter("larder_generation_swaps_total", "New generations taken over since the start.", swaps),
  counter("larder_ledger_charges_total", "Charges made durable.", () => ledger.counters.commits),
  counter("larder_ledger_groups_total", "Groups of charges and holds written.", () => ledger.counters.groups),
  counter(
    "larder_ledger_failed_groups_total",
    "Groups that could not be written, or got no answer.",
    () => ledger.counters.failed_groups
  ),
  counter(
    "larder_ledger_durable_seconds_total",
    "Time spent on making groups durable.",
    () => ledger.counters.durable_seconds
  ),
  counter(
    "larder_ledger_refused_insufficient_balance_total",
    "Calls refused because the balance would not cover them.",
    () => ledger.counters.refused_insufficient_balance
  ),
  counter(
    "larder_ledger_refused_spend_cap_reached_total",
    "Calls refused because a key's budget would not cover them.",
    () => ledger.counters.refused_spend_cap_reached
  )
]
const gauge = (name: string, help: string, value: () => number): Gauge => ({ name, type: "gauge", help, value })
const counter = (name: string, help: string, value: () => number): Gauge => ({ name, type: "counter", help, value })

/** Opens and starts everything; what it opened closes with the scope, the listeners first. */
const open = Effect.fnUntraced(function* () {
  const { consolePort, dataHost, home, host, ledgerUrl, port } = yield* serveSettings
  const layout = yield* layoutOf(home)
  const live = yield* watchLive(layout, loadReadModel(layout))
  const ledger = yield* Ledger
  // commands reach a ledger in PostgreSQL by themselves
  if (Option.isNone(ledgerUrl)) yield* serveControl(ledgerDirectoryIn(layout.home), ledger.administration)

  const context = yield* Effect.context<never>()
  const meters = makeMeters()
  const pipeline = makePipeline({
    live,
    ledger,
    meters,
    now: Date.now,
    run: Effect.runPromiseExitWith(context),
    report: (message, about, cause: Cause.Cause<unknown>) =>
      Effect.runForkWith(context)(Effect.annotateLogs(Effect.logError(message, cause), about))
  })
  const readiness = (): Readiness => {
    const { id, model } = live.current()
    const writable = ledger.writable()
    return {
      ready: writable,
      generation: id,
      data_sets: model.dataSets,
      ledger: writable ? "writable" : "not writable"
    }
  }
  const dataHostName = Option.getOrUndefined(dataHost)?.toLowerCase()
  const api = makeApi(pipeline, routes, { dataHost: dataHostName, version: manifest.version })
  const operators = makeConsole(readiness, meters, gaugesOf(ledger, pipeline, live.swaps))
  const addresses = {
    api: yield* listen(api, { what: "API", host, port, setting: "LARDER_PORT" }),
    console: yield* listen(operators, { what: "console", host, port: consolePort, setting: "LARDER_CONSOLE_PORT" })
  }
  return { addresses, readiness }
})

const welcome = (
  { addresses, readiness }: Effect.Success<ReturnType<typeof open>>,
  demo: Effect.Success<ReturnType<typeof demoKey>> | undefined
) => {
  const { data_sets, generation } = readiness()
  const names = Object.entries(data_sets)
  const listed = (loaded: boolean) => names.flatMap(([name, is]) => (is === loaded ? [name] : [])).join(", ") || "none"
  const lines = [
    `Larder serves ${generation}. Loaded: ${listed(true)}. Not loaded: ${listed(false)}.`,
    `  API      ${addresses.api}/v1`,
    `  OpenAPI  ${addresses.api}/openapi.json`,
    `  Console  ${addresses.console}  (/healthz, /readyz, /metrics)`
  ]
  const examples = [
    ...(data_sets.commodities ? ["commodities/prices?series=cheese-block-sales-price-weekly&from=2026-08-01"] : []),
    ...(data_sets.branded_foods ? ["branded-foods?name=cheddar&limit=2"] : []),
    ...(data_sets.storefronts ? ["stores?category=food_beverages_and_tobacco"] : [])
  ]
  const shown =
    demo === undefined
      ? ["", "Make an account and a key: npx larder-serve accounts create --help"]
      : [
          `  Demo key ${demo.key}  (shown once; ${demo.account.balance_credits} credits left)`,
          "",
          "Try:",
          ...examples.map((path) => `  curl -H "Authorization: Bearer ${demo.key}" "${addresses.api}/v1/${path}"`)
        ]
  return [...lines, ...shown, "", "Ctrl-C stops it."].join("\n")
}

const flags = {
  demo: Flag.Boolean("demo").pipe(
    Flag.withDescription("Make sure of a demo account, and print a new key of it"),
    Flag.withDefault(false)
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print the addresses as one JSON object on stdout, for machines"),
    Flag.withDefault(false)
  )
}

export const startCommand = Command.make(
  "start",
  flags,
  Effect.fn(function* ({ demo, json }) {
    const { home, ledgerUrl } = yield* serveSettings
    const ledger = Layer.effect(
      Ledger,
      Option.isSome(ledgerUrl)
        ? postgresLedger(ledgerUrl.value, ledgerDirectoryIn(home))
        : embeddedLedger(ledgerDirectoryIn(home))
    )
    yield* Effect.gen(function* () {
      const opened = yield* open()
      const shown = demo ? yield* demoKey() : undefined
      const told = { ...opened.addresses, generation: opened.readiness().generation, demo_key: shown?.key ?? null }
      yield* Console.log(json ? JSON.stringify(told) : welcome(opened, shown))
      yield* Effect.never
    }).pipe(Effect.scoped, Effect.provide(Ledger.layerAdministration.pipe(Layer.provideMerge(ledger))))
  })
).pipe(Command.withDescription("Serve the warehouse until it is told to stop"))
