/** `larder-serve start`: opens the live generation and the ledger, listens, and shuts down cleanly. */
import { version } from "@larder/schemas"
import { followDepot, openLayout, watchLive, webhookFromSettings } from "@larder/warehouse"
import { type Cause, Console, Context, Effect, Layer, Option, Scope } from "effect"
import { addressFor, buildUrl, isAllInterfaces, isLoopbackUrl } from "./addresses.ts"
import {
  combineProvenances,
  dataHeaders,
  describeSamples,
  listen,
  makeApi,
  makeLimiter,
  makeMeters,
  makePipeline,
  makeReadModel,
  routes
} from "./api/index.ts"
import { Billing, describeUnpaidCredits, openBilling, openProcessor } from "./billing/index.ts"
import { createDemoKey, formatWelcome, ledgerDirectoryIn, serveControl } from "./cli/index.ts"
import {
  type ConsoleServices,
  DataRead,
  describeFreshness,
  makeCheckoutPage,
  makeConsole,
  makeForgotPasswordPage,
  makeMetrics,
  pages,
  type Readiness,
  simulatorPages
} from "./console/index.ts"
import { watchDescriptors } from "./descriptors.ts"
import { addDocs } from "./docs/index.ts"
import { Ledger } from "./ledger/index.ts"
import { mailFromSettings, openMailer } from "./mail/index.ts"
import { makeMcpHandler } from "./mcp/index.ts"
import { machineMetrics, warehouseMetrics, watchMachine, watchWarehouse } from "./monitoring/index.ts"
import { countMails, mailAccounts, makeDeliveries, notifyOfFreshness } from "./notices/index.ts"
import { administerPeople, createFirstLink, openPasswordResets, People } from "./people/index.ts"
import { type ConsoleDatabase, layerRequestLog, RequestLog } from "./persistence/index.ts"
import { consoleUrlSetting, serveSettings } from "./settings.ts"
import { delayStop, layerStop, maxWait, openBoundedScope, Stop } from "./stop.ts"
import { storesInFile, storesInPostgres } from "./stores.ts"

const describeMissingTls = (address: string) =>
  `The console listens on ${address} without https: passwords and sessions can be read in transit. Put a proxy with TLS in front of it and set LARDER_CONSOLE_URL to its https address, or restrict the console to this machine with LARDER_CONSOLE_HOST=127.0.0.1.`

/** The API and the console listen until `listeners` closes. `asJson`: everything on stdout is JSON. */
const openServer = Effect.fnUntraced(function* (listeners: Scope.Scope, asJson: boolean) {
  const settings = yield* serveSettings
  const webhook = yield* webhookFromSettings
  const { consoleHost, consolePort, dataHost, home, host, keepAlive, ledgerUrl, port, withheldLicences } = settings
  const layout = yield* openLayout(home)
  const depot = yield* followDepot(layout, settings.depotPoll)
  const live = yield* watchLive(layout, makeReadModel(layout, withheldLicences))
  const warehouse = yield* watchWarehouse(layout, live)
  const machine = yield* watchMachine(layout)
  const ledger = yield* Ledger
  const requestLog = yield* RequestLog
  const { signIns } = yield* People
  const publicUrl = Option.getOrUndefined(settings.publicConsoleUrl)
  const publicApiUrl = Option.getOrUndefined(settings.publicApiUrl)
  let consoleAddress = yield* consoleUrlSetting // until the listener has its port
  const consoleUrl = () => publicUrl ?? addressFor(consoleAddress, null)
  const ownUrls = [buildUrl(host, port), consoleAddress, publicApiUrl, publicUrl].filter((url) => url !== undefined)
  const deliveries = makeDeliveries()
  const opened = openMailer(yield* mailFromSettings, { asJson, isLocal: ownUrls.every(isLoopbackUrl) })
  const mailer = opened && countMails(opened, deliveries)
  const sendsMail = mailer?.delivery === "smtp"
  // commands connect to a ledger in PostgreSQL directly
  if (Option.isNone(ledgerUrl)) {
    const people = yield* administerPeople(consoleUrl, mailer)
    yield* serveControl(ledgerDirectoryIn(layout.home), ledger.administration, people)
  }
  const payments = yield* openProcessor(consoleUrl)
  const billing = yield* openBilling(payments.processor)
  const dataRead = Context.get(yield* Layer.build(DataRead.layer(live, layout, warehouse.current)), DataRead)

  const context = yield* Effect.context<Exclude<ConsoleServices, Billing | DataRead>>()
  const meters = makeMeters()
  const limiter = makeLimiter()
  const report = (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) =>
    Effect.runForkWith(context)(Effect.annotateLogs(Effect.logError(message, cause), about))
  const pipeline = makePipeline({
    live,
    ledger,
    limiter,
    meters,
    now: Date.now,
    publicUrl: publicApiUrl,
    run: Effect.runPromiseExitWith(context),
    onResponse: (request) => {
      requestLog.record(request)
      if (request.credits > 0) billing.charged(request.account_id)
    },
    report
  })
  const stop = yield* Stop
  const readiness = (): Readiness => {
    const { id, model } = live.current()
    const writable = ledger.writable()
    const ability = writable ? "ready" : "not ready"
    const status = stop.isRequested() ? "stopping" : ability
    const fault = [live.fault(), depot.fault()].filter((fault) => fault !== undefined).join("; ")
    return {
      status,
      generation: id,
      data_sets: model.dataSets,
      ledger: writable ? "writable" : "not writable",
      freshness: describeFreshness(warehouse.current()),
      ...(fault === "" ? {} : { fault: `${fault}: see the log` })
    }
  }
  const origins = new Set([publicApiUrl, publicUrl].filter((url) => url !== undefined))
  const sampleNotice = () => describeSamples(live.current().model.provenances)
  const shared = { pipeline, routes, limiter, report, version, publicUrl: publicApiUrl }
  const assistants = makeMcpHandler({
    ...shared,
    ledger,
    dataHeaders: () => dataHeaders(combineProvenances(live.current().model.provenances), live.current().id),
    origins
  })
  /** The console's address for a client that reached the API at this host; undefined if unknown, as behind a proxy. */
  const guessConsoleUrl = (hostname: string | undefined) => {
    const address = addressFor(consoleAddress, hostname ?? null)
    return publicApiUrl === undefined && new URL(address).hostname === hostname ? address : undefined
  }
  let apiAddress = buildUrl(host, port) // until the listener has its port
  const app = makeApi({
    ...shared,
    assistants,
    docs: addDocs,
    dataHost: Option.getOrUndefined(dataHost)?.toLowerCase(),
    getListenerUrl: () => addressFor(apiAddress, null),
    findConsoleUrl: (hostname) => publicUrl ?? guessConsoleUrl(hostname),
    sampleNotice,
    commodities: () => live.current().model.commodities
  })
  yield* watchDescriptors
  apiAddress = yield* listen(app, {
    name: "API",
    host,
    port,
    setting: "LARDER_PORT",
    keepAlive,
    isFull: limiter.isFull,
    docsUrl: publicApiUrl
  }).pipe(Scope.provide(listeners))
  const { simulator } = payments
  const resets = mailer && (yield* openPasswordResets(mailer, consoleUrl))
  const consoleApp = makeConsole<ConsoleServices>({
    readiness,
    meters,
    metrics: [
      ...makeMetrics(ledger, pipeline, limiter, live.swaps, requestLog.dropped, signIns, billing.events, deliveries),
      ...warehouseMetrics({
        state: warehouse.current,
        generation: () => live.current().id,
        isReady: () => readiness().status === "ready",
        pulls: depot.pulls
      }),
      ...machineMetrics(machine.current)
    ],
    pages: [...pages, ...(simulator === undefined ? [] : simulatorPages(simulator))],
    run: Effect.runPromiseExitWith(context.pipe(Context.add(Billing, billing), Context.add(DataRead, dataRead))),
    report,
    now: Date.now,
    publicUrl,
    trustedProxies: settings.trustedProxies,
    apiFor: (host) => publicApiUrl ?? addressFor(apiAddress, host),
    sampleNotice,
    processor: payments.processor.name,
    sendsMail,
    publicPages: [makeForgotPasswordPage(resets), ...(simulator === undefined ? [] : [makeCheckoutPage(simulator)])]
  })
  consoleAddress = yield* listen(consoleApp, {
    name: "console",
    host: consoleHost,
    port: consolePort,
    setting: "LARDER_CONSOLE_PORT",
    keepAlive,
    docsUrl: publicApiUrl ?? addressFor(apiAddress, null)
  }).pipe(Scope.provide(listeners))
  const isProtected = isLoopbackUrl(consoleAddress) || publicUrl?.startsWith("https:")
  if (!isProtected) yield* Effect.logWarning(describeMissingTls(consoleAddress))
  const warning = describeUnpaidCredits(payments.mode, publicUrl)
  if (warning !== undefined) yield* Effect.logWarning(warning)
  for (const url of [apiAddress, consoleAddress]) if (!isAllInterfaces(url)) origins.add(url)
  if (simulator !== undefined) yield* Effect.forkScoped(simulator.sendEvents)
  if (webhook !== undefined) yield* notifyOfFreshness(warehouse.current, webhook, deliveries)
  if (mailer !== undefined && sendsMail) yield* mailAccounts(mailer, consoleUrl)
  const { data_sets, generation } = readiness()
  return {
    addresses: { api: addressFor(apiAddress, null), console: addressFor(consoleAddress, null) },
    apiUrl: publicApiUrl ?? addressFor(apiAddress, null),
    consoleUrl: consoleUrl(),
    isOnAllInterfaces: publicUrl === undefined && isAllInterfaces(consoleAddress),
    generation,
    data_sets,
    payments: payments.mode
  }
})

const stopsLate = Effect.logWarning(`The server stops before everything is closed, because this took ${maxWait}`)

type StoreError = Layer.Error<ReturnType<typeof storesInPostgres> | ReturnType<typeof storesInFile>>

const openDemo = Effect.fnUntraced(function* (consoleUrl: string) {
  const { account, key } = yield* createDemoKey()
  return { key, balance_credits: account.balance_credits, link: yield* createFirstLink(account.id, consoleUrl) }
})

/** The command and its flags are in `cli/program.ts`. */
export const start = Effect.fn(
  function* (flags: { readonly demo: boolean; readonly json: boolean }) {
    const { home, keptRequests, ledgerUrl, stopDelay } = yield* serveSettings
    const directory = ledgerDirectoryIn(home)
    const stores: Layer.Layer<Ledger | ConsoleDatabase, StoreError> = Option.isSome(ledgerUrl)
      ? storesInPostgres(ledgerUrl.value, directory)
      : storesInFile(directory)
    const services = Layer.mergeAll(People.layer, layerRequestLog(keptRequests)).pipe(
      Layer.provideMerge(Ledger.layerAdministration),
      Layer.provideMerge(stores)
    )
    // closed in reverse order: after the delay, both listeners at the same time, then everything else
    const scope = yield* openBoundedScope(maxWait, stopsLate)
    const listeners = yield* Scope.fork(yield* Effect.scope, "parallel")
    yield* Effect.gen(function* () {
      const started = yield* openServer(listeners, flags.json)
      const demo = flags.demo ? yield* openDemo(started.consoleUrl) : undefined
      const { addresses, generation, payments } = started
      const json = { ...addresses, generation, payments, demo_key: demo?.key ?? null, first_link: demo?.link ?? null }
      yield* Console.log(flags.json ? JSON.stringify(json) : formatWelcome(started, demo))
    }).pipe(Effect.provide(yield* Layer.buildWithScope(services, scope)), Scope.provide(scope))
    yield* delayStop(stopDelay)
    yield* Effect.never
  },
  Effect.scoped,
  Effect.provide(layerStop)
)
