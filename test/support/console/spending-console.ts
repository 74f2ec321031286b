/**
 * A console in this process with its real ledger, tables, people (with quick passwords), request log, billing and payment
 * simulator, in a temporary folder: for tests of the pages about money and calls.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { scopes } from "@larder/schemas"
import { listen, makeMeters } from "@larder/serve/api"
import { Billing, openBilling, Simulator } from "@larder/serve/billing"
import { makeConsole, makeForgotPasswordPage } from "@larder/serve/console"
import { spendingPages } from "@larder/serve/console/pages.ts"
import { Administration, embeddedConsole, Ledger, LedgerFile, openLedgerInFile } from "@larder/serve/ledger"
import { People } from "@larder/serve/people"
import { type ConsoleDatabase, layerRequestLog, type RequestLog, type RequestRecord } from "@larder/serve/persistence"
import { loopback } from "@larder/serve/trusted-proxies"
import { Cause, Context, Effect, Layer, ManagedRuntime, References } from "effect"
import { afterAll, beforeAll } from "vitest"
import { layerPeople } from "../../people/joined.ts"
import { makeBrowser, nameSessionCookie } from "./browser.ts"

const password = "a long enough pass phrase 7"

type Services = Administration | Billing | ConsoleDatabase | People | RequestLog | Simulator | Ledger
class Address extends Context.Service<Address, { readonly url: string }>()("larder/test/Address") {}

const layerConsole = (folder: string, now: () => number) => {
  let url = ""
  const stores = Layer.mergeAll(
    Layer.effect(
      Ledger,
      Effect.flatMap(LedgerFile, (file) => openLedgerInFile(file))
    ),
    embeddedConsole
  ).pipe(Layer.provide(LedgerFile.layer(folder)))
  const tables = Layer.mergeAll(
    layerPeople,
    layerRequestLog(10_000),
    Simulator.layer(() => url)
  ).pipe(Layer.provideMerge(Ledger.layerAdministration), Layer.provideMerge(stores))
  const billing = Layer.unwrap(Effect.map(Simulator, ({ processor }) => Layer.effect(Billing, openBilling(processor))))
  const listening = Layer.effect(
    Address,
    Effect.gen(function* () {
      const context = yield* Effect.context<Services>()
      const app = makeConsole<Services>({
        readiness: () => ({
          status: "ready",
          generation: "none",
          data_sets: {},
          ledger: "writable",
          freshness: { read_at: null, states: {} } as const
        }),
        meters: makeMeters(),
        metrics: [],
        pages: spendingPages,
        run: Effect.runPromiseExitWith(context),
        report: (message, about, cause) => console.error(message, about, Cause.pretty(cause)),
        now,
        publicUrl: undefined,
        trustedProxies: loopback,
        apiFor: () => "http://127.0.0.1:8080",
        sampleNotice: () => undefined,
        processor: "simulator",
        sendsMail: true,
        publicPages: [makeForgotPasswordPage(undefined)]
      })
      url = yield* listen(app, { name: "console", host: "127.0.0.1", port: 0, setting: "LARDER_CONSOLE_PORT" })
      return Address.of({ url })
    })
  )
  const onlyErrors = Layer.succeed(References.MinimumLogLevel, "Error")
  return listening.pipe(Layer.provideMerge(billing), Layer.provideMerge(tables), Layer.provideMerge(onlyErrors))
}

/** Starts before the tests of a file and stops after them; only tests may use the result. */
export const startSpendingConsole = ({ now = Date.now }: { readonly now?: () => number } = {}) => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-spending-"))
  const runtime = ManagedRuntime.make(layerConsole(folder, now))
  const run = <A, E>(work: Effect.Effect<A, E, Services | Address>) => runtime.runPromise(work)
  let url = ""
  beforeAll(async () => {
    url = (await run(Address)).url
  })
  afterAll(async () => {
    await runtime.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  let people = 0
  /** Signs in a new person to a new account with its 5,000 starting credits and a key. */
  const signIn = async (keyName = "Shop") => {
    const customer = await run(
      Effect.gen(function* () {
        const ledger = yield* Administration
        const access = yield* People
        const account = yield* ledger.createAccount({ name: "Bakery" })
        const [first, ...rest] = scopes
        const key = yield* ledger.createKey({
          account_id: account.id,
          name: keyName,
          scopes: [first, ...rest],
          budget_credits: 1_000_000
        })
        const { token } = yield* access.invite({ account_id: account.id, email: null, is_operator: false })
        const email = `person-${people++}@example.com`
        const session = yield* access.accept({ token, email, password })
        return { account, email, key, token: session.token }
      })
    )
    const browser = makeBrowser(url)
    browser.cookies.set(nameSessionCookie(url), customer.token)
    return { ...customer, browser }
  }

  return { run, signIn, password, url: () => url, openBrowser: () => makeBrowser(url) }
}

export type SpendingConsole = ReturnType<typeof startSpendingConsole>
export type SignedIn = Awaited<ReturnType<SpendingConsole["signIn"]>>

/** A charged call with a key, now or at another time. */
export const makeCall = (key: SignedIn["key"], token: string, requestId: string, at = Date.now()) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const view = yield* Effect.promise(() => ledger.authenticate(token, Date.now()))
    if (view === undefined) return yield* Effect.die(`the key ${key.id} is unknown`)
    const admission = yield* Effect.promise(() =>
      ledger.hold(view, { endpoint: "/v1/stores", scope: "search-stores", credits: 100 }, at)
    )
    if ("refused" in admission) return yield* Effect.die(admission.refused)
    yield* Effect.promise(() => admission.held.capture(requestId))
  })

/** A logged call that the balance did not cover. Its id has the usual length. */
export const aRefusedCall = ({ account, key }: SignedIn): RequestRecord => ({
  id: "req_TTcZPTzRyzyCg2NQGWwP",
  account_id: account.id,
  key_id: key.id,
  endpoint: "/v1/commodities/{slug}/observations",
  status: 402,
  credits: 0,
  duration_ms: 1.25,
  caller_request_id: null,
  traceparent: null,
  occurred_at: new Date().toISOString()
})
