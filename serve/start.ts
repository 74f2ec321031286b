/** `larder-serve start`: opens the live generation and the ledger, listens, and shuts down in order. */
import { version } from "@larder/schemas"
import { followDepot, openLayout, watchLive } from "@larder/warehouse"
import { type Cause, Console, Context, Effect, Layer, Option, type Redacted } from "effect"
import { addressFor, isEveryAddress, isLoopback, urlOf } from "./addresses.ts"
import {
  aboutSamples,
  dataHeaders,
  listen,
  makeApi,
  makeMeters,
  makePipeline,
  makeTurns,
  ofAll,
  readModelOf,
  routes
} from "./api/index.ts"
import { Billing, nothingIsTaken, openBilling, openPayments } from "./billing/index.ts"
import { demoKey, ledgerDirectoryIn, serveControl, welcome } from "./cli/index.ts"
import {
  type ConsoleServices,
  DataRead,
  makeCheckoutPage,
  makeConsole,
  makeGauges,
  pages,
  type Readiness,
  simulatorPages
} from "./console/index.ts"
import { addDocs } from "./docs/index.ts"
import { Ledger, notingKeys } from "./ledger/index.ts"
import { makeAssistants } from "./mcp/index.ts"
import { administerPeople, createFirstLink, layerPeople, People } from "./people/index.ts"
import { type ConsoleDatabase, layerRequestLog, RequestLog } from "./persistence/index.ts"
import { consoleUrlSetting, serveSettings } from "./settings.ts"
import { storesInFile, storesInPostgres } from "./stores.ts"

const withoutTls = (listening: string) =>
  `The console listens on ${listening} without https: passwords and sessions can be read on their way. Let a proxy with TLS stand in front and set LARDER_CONSOLE_URL to its https address, or keep the console to this machine with LARDER_CONSOLE_HOST=127.0.0.1.`

/** Opens and starts everything. All of it closes with the scope, the listeners first. */
const open = Effect.fnUntraced(function* () {
  const settings = yield* serveSettings
  const { consoleHost, consolePort, dataHost, home, host, ledgerUrl, port, withheldLicences } = settings
  const layout = yield* openLayout(home)
  const depot = yield* followDepot(layout)
  const live = yield* watchLive(layout, readModelOf(layout, withheldLicences))
  const ledger = yield* Ledger
  const requestLog = yield* RequestLog
  const { signIns } = yield* People
  const publicUrl = Option.getOrUndefined(settings.publicConsoleUrl)
  const publicApiUrl = Option.getOrUndefined(settings.publicApiUrl)
  let listening = yield* consoleUrlSetting // until the listener has its port
  const consoleUrl = () => publicUrl ?? addressFor(listening, null)
  // commands connect to a ledger in PostgreSQL directly
  if (Option.isNone(ledgerUrl)) {
    const administration = notingKeys(ledger.administration, "a command")
    yield* serveControl(ledgerDirectoryIn(layout.home), administration, yield* administerPeople(consoleUrl))
  }
  const payments = yield* openPayments(consoleUrl)
  const billing = yield* openBilling(payments.processor)
  const dataRead = Context.get(yield* Layer.build(DataRead.layer(live, layout)), DataRead)

  const context = yield* Effect.context<Exclude<ConsoleServices, Billing | DataRead>>()
  const meters = makeMeters()
  const turns = makeTurns()
  const report = (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) =>
    Effect.runForkWith(context)(Effect.annotateLogs(Effect.logError(message, cause), about))
  const pipeline = makePipeline({
    live,
    ledger,
    turns,
    meters,
    now: Date.now,
    publicUrl: publicApiUrl,
    run: Effect.runPromiseExitWith(context),
    answered: (request) => {
      requestLog.note(request)
      if (request.credits > 0) billing.charged(request.account_id)
    },
    report
  })
  const readiness = (): Readiness => {
    const { id, model } = live.current()
    const writable = ledger.writable()
    const faults = [live.fault(), depot.fault()].filter((fault) => fault !== undefined)
    const fault = faults.length === 0 ? undefined : faults.join("; ")
    return {
      ready: writable,
      generation: id,
      data_sets: model.dataSets,
      ledger: writable ? "writable" : "not writable",
      ...(fault === undefined ? {} : { fault: `${fault}: the log says why` })
    }
  }
  const dataHostName = Option.getOrUndefined(dataHost)?.toLowerCase()
  const origins = new Set([publicApiUrl, publicUrl].filter((url) => url !== undefined))
  const assistants = makeAssistants({
    pipeline,
    routes,
    ledger,
    turns,
    dataHeaders: () => dataHeaders(ofAll(live.current().model.provenances), live.current().id),
    report,
    version,
    publicUrl: publicApiUrl,
    origins
  })
  /**
   * Address of the console's listener for a client that reached the API at this host; undefined if unknown, as behind a
   * proxy.
   */
  const besides = (hostname: string | undefined) => {
    const address = addressFor(listening, hostname ?? null)
    return publicApiUrl === undefined && new URL(address).hostname === hostname ? address : undefined
  }
  const samples = () => aboutSamples(live.current().model.provenances)
  let api = urlOf(host, port) // until the listener has its port
  const app = makeApi({
    pipeline,
    routes,
    assistants,
    docs: addDocs,
    turns,
    report,
    version,
    dataHost: dataHostName,
    publicUrl: publicApiUrl,
    listening: () => addressFor(api, null),
    consoleFor: (hostname) => publicUrl ?? besides(hostname),
    samples
  })
  api = yield* listen(app, {
    what: "API",
    host,
    port,
    setting: "LARDER_PORT",
    isFull: turns.isFull,
    docsUrl: publicApiUrl
  })
  const { simulator } = payments
  const people = makeConsole<ConsoleServices>({
    readiness,
    meters,
    gauges: makeGauges(ledger, pipeline, turns, live.swaps, requestLog.dropped, signIns, billing.events),
    pages: [...pages, ...(simulator === undefined ? [] : simulatorPages(simulator))],
    run: Effect.runPromiseExitWith(context.pipe(Context.add(Billing, billing), Context.add(DataRead, dataRead))),
    report,
    now: Date.now,
    publicUrl,
    trustedProxies: settings.trustedProxies,
    apiFor: (host) => publicApiUrl ?? addressFor(api, host),
    samples,
    processor: payments.processor.name,
    checkout: simulator === undefined ? undefined : makeCheckoutPage(simulator)
  })
  listening = yield* listen(people, {
    what: "console",
    host: consoleHost,
    port: consolePort,
    setting: "LARDER_CONSOLE_PORT",
    docsUrl: publicApiUrl ?? addressFor(api, null)
  })
  if (!isLoopback(listening) && !publicUrl?.startsWith("https:")) yield* Effect.logWarning(withoutTls(listening))
  const warning = nothingIsTaken(payments.mode, publicUrl)
  if (warning !== undefined) yield* Effect.logWarning(warning)
  for (const url of [api, listening]) if (!isEveryAddress(url)) origins.add(url)
  if (simulator !== undefined) yield* Effect.forkScoped(simulator.sendEvents)
  const { data_sets, generation } = readiness()
  return {
    addresses: { api: addressFor(api, null), console: addressFor(listening, null) },
    consoleUrl: consoleUrl(),
    isForOthersToo: publicUrl === undefined && isEveryAddress(listening),
    generation,
    data_sets,
    payments: payments.mode
  }
})

/** The written stores: the ledger, and the console's data. */
const kept = (home: string, ledgerUrl: Option.Option<Redacted.Redacted>, anchor: Option.Option<Redacted.Redacted>) => {
  const directory = ledgerDirectoryIn(home)
  const stores: Layer.Layer<Ledger | ConsoleDatabase, StoreError> = Option.isSome(ledgerUrl)
    ? storesInPostgres(ledgerUrl.value, directory, anchor)
    : storesInFile(directory, anchor)
  return Layer.mergeAll(layerPeople, layerRequestLog).pipe(
    Layer.provideMerge(Ledger.layerAdministration),
    Layer.provideMerge(stores)
  )
}
type StoreError = Layer.Error<ReturnType<typeof storesInPostgres> | ReturnType<typeof storesInFile>>

const openDemo = Effect.fnUntraced(function* (consoleUrl: string) {
  const { account, key } = yield* demoKey()
  return { key, balance_credits: account.balance_credits, link: yield* createFirstLink(account.id, consoleUrl) }
})

/** The flags `--demo` and `--json`; the command itself is in `cli/start.ts`. */
interface Asked {
  readonly demo: boolean
  readonly json: boolean
}

export const start = Effect.fn(function* ({ demo, json }: Asked) {
  const { home, ledgerAnchor, ledgerUrl } = yield* serveSettings
  yield* Effect.gen(function* () {
    const started = yield* open()
    const shown = demo ? yield* openDemo(started.consoleUrl) : undefined
    const { addresses, generation, payments } = started
    const told = { ...addresses, generation, payments, demo_key: shown?.key ?? null, first_link: shown?.link ?? null }
    yield* Console.log(json ? JSON.stringify(told) : welcome(started, shown))
    yield* Effect.never
  }).pipe(Effect.scoped, Effect.provide(kept(home, ledgerUrl, ledgerAnchor)))
})
