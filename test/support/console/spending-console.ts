/**
 * A console that listens, with its real ledger, tables, people (whose passwords cost nothing), request log, billing and
 * payment simulator, in a folder of its own: for tests of the pages about money and calls.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { scopes } from "@larder/schemas"
import { listen, makeMeters } from "@larder/serve/api"
import { Billing, openBilling, Simulator } from "@larder/serve/billing"
import { makeConsole, spendingPages } from "@larder/serve/console"
import { Administration, embeddedConsole, Ledger, LedgerFile, openLedgerInFile } from "@larder/serve/ledger"
import { People } from "@larder/serve/people"
import { type ConsoleDatabase, layerRequestLog, type NotedRequest, type RequestLog } from "@larder/serve/persistence"
import { loopback } from "@larder/serve/trusted-proxies"
import { Cause, Context, Effect, Layer, ManagedRuntime, References } from "effect"
import { afterAll, beforeAll } from "vitest"
import { layerPeople } from "../../people/joined.ts"

type Services = Administration | Billing | ConsoleDatabase | People | RequestLog | Simulator | Ledger
class Address extends Context.Service<Address, { readonly url: string }>()("larder/test/Address") {}

const served = (folder: string, now: () => number) => {
  let url = ""
  const stores = Layer.mergeAll(
    Layer.effect(
      Ledger,
      Effect.flatMap(LedgerFile, (file) => openLedgerInFile(file))
    ),
    embeddedConsole
  ).pipe(Layer.provide(LedgerFile.layer(folder)))
  const kept = Layer.mergeAll(
    layerPeople,
    layerRequestLog,
    Simulator.layer(() => url)
  ).pipe(Layer.provideMerge(Ledger.layerAdministration), Layer.provideMerge(stores))
  const money = Layer.unwrap(Effect.map(Simulator, ({ processor }) => Layer.effect(Billing, openBilling(processor))))
  const listening = Layer.effect(
    Address,
    Effect.gen(function* () {
      const context = yield* Effect.context<Services>()
      const app = makeConsole<Services>({
        readiness: () => ({ ready: true, generation: "none", data_sets: {}, ledger: "writable" as const }),
        meters: makeMeters(),
        gauges: [],
        pages: spendingPages,
        run: Effect.runPromiseExitWith(context),
        report: (message, about, cause) => console.error(message, about, Cause.pretty(cause)),
        now,
        publicUrl: undefined,
        trustedProxies: loopback,
        apiFor: () => "http://127.0.0.1:8080",
        samples: () => undefined,
        processor: "simulator"
      })
      url = yield* listen(app, { what: "console", host: "127.0.0.1", port: 0, setting: "LARDER_CONSOLE_PORT" })
      return Address.of({ url })
    })
  )
  const quiet = Layer.succeed(References.MinimumLogLevel, "Error")
  return listening.pipe(Layer.provideMerge(money), Layer.provideMerge(kept), Layer.provideMerge(quiet))
}

export interface Shown {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Registers start and end with the file's hooks; what it returns may be used inside of tests. */
export const spendingConsole = ({ now = Date.now }: { readonly now?: () => number } = {}) => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-spending-"))
  const runtime = ManagedRuntime.make(served(folder, now))
  const run = <A, E>(work: Effect.Effect<A, E, Services | Address>) => runtime.runPromise(work)
  let url = ""
  beforeAll(async () => {
    url = (await run(Address)).url
  })
  afterAll(async () => {
    await runtime.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  const browserOf = (cookie: string) => {
    const ask = (target: string, init: RequestInit) =>
      fetch(new URL(target, url), { redirect: "manual", ...init, headers: { cookie, ...init.headers } })
    const read = async (response: Response): Promise<Shown> => ({
      status: response.status,
      headers: response.headers,
      text: await response.text()
    })
    return {
      ask,
      get: async (target: string) => read(await ask(target, {})),
      post: async (target: string, fields: Readonly<Record<string, string>>) =>
        read(await ask(target, { method: "POST", body: new URLSearchParams(fields), headers: { origin: url } }))
    }
  }

  let people = 0
  /** A new account with its 5,000 credits, a key, and somebody who is signed in to it. */
  const signedIn = async (keyName = "Shop") => {
    const made = await run(
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
        const session = yield* access.accept({ token, email, password: "a long enough pass phrase 7" })
        return { account, key, token: session.token }
      })
    )
    return { ...made, browser: browserOf(`larder_session=${made.token}`) }
  }

  return { run, signedIn, url: () => url, nobody: () => browserOf("") }
}

export type SpendingConsole = ReturnType<typeof spendingConsole>
export type SignedIn = Awaited<ReturnType<SpendingConsole["signedIn"]>>

/** A charged call of the account, of now or of another moment, one after the other. */
export const call = (key: SignedIn["key"], token: string, requestId: string, at = Date.now()) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const view = yield* Effect.promise(() => ledger.authenticate(token, Date.now()))
    if (view === undefined) return yield* Effect.die(`the key ${key.id} is unknown`)
    const admission = yield* Effect.promise(() => ledger.hold(view, "/v1/stores", 100, at))
    if ("refused" in admission) return yield* Effect.die(admission.refused)
    yield* Effect.promise(() => admission.held.commit(requestId))
  })

/** As the request log is told of a call that the balance did not cover; its id is as long as ids are. */
export const refusedCall = ({ account, key }: SignedIn): NotedRequest => ({
  id: "req_TTcZPTzRyzyCg2NQGWwP",
  account_id: account.id,
  key_id: key.id,
  endpoint: "/v1/commodities/{slug}/observations",
  status: 402,
  credits: 0,
  duration_ms: 1.25,
  occurred_at: new Date().toISOString()
})

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'"
}
export const unescaped = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity)

/** Where the link with this text leads. */
export const linkCalled = (html: string, text: string): string | undefined => {
  const found = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${text}</a>`).exec(html)?.[1]
  return found === undefined ? undefined : unescaped(found)
}

/** The first cells of a page's only table, or those of the column with this number. */
export const column = (html: string, index: number): ReadonlyArray<string> =>
  [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].flatMap(([, row = ""]) => {
    const cells = [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => cell)
    const cell = row.includes('scope="col"') ? undefined : cells[index]
    return cell === undefined ? [] : [unescaped(cell.replace(/<[^>]*>/g, "")).trim()]
  })

/** All pages, from the newest on, by their links to older ones. */
export const followed = async (browser: SignedIn["browser"], first: string): Promise<ReadonlyArray<string>> => {
  const pages: Array<string> = []
  for (let next: string | undefined = first; next !== undefined; ) {
    const { text } = await browser.get(next)
    pages.push(text)
    next = linkCalled(text, "Older")
  }
  return pages
}
