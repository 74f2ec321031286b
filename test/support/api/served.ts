/**
 * A real server for one file of tests, and an account of the file's own. When the tests are done the ledger must hold exactly
 * the charges that the answers announced: that closes every file.
 */
import { readFileSync, rmSync, statSync } from "node:fs"
import type { Entry, NewKey } from "@larder/serve/ledger"
import { afterAll, beforeAll, expect, inject } from "vitest"
import { type Server, startServer } from "../programs.ts"
import { copyHome } from "../sample-home.ts"
import { type Charge, type Client, makeClient, type Options } from "./client.ts"
import type { Reply } from "./judge.ts"
import { ledgerSettings } from "./ledger-place.ts"
import { accountsIn, accountsOfFile, createKey, operateIn, statements } from "./operator.ts"

const charges = (entries: ReadonlyArray<Entry>) =>
  entries.flatMap(({ credits, endpoint, request_id, type }) =>
    type === "charge" ? [{ request_id: String(request_id), credits: -credits, endpoint }] : []
  )
const byRequest = <A extends { readonly request_id: string }>(rows: ReadonlyArray<A>) =>
  rows.toSorted((a, b) => a.request_id.localeCompare(b.request_id))

/** What tests use of a server. */
export type Addressed = Pick<Server, "api" | "console" | "logs">

interface Started {
  readonly home: string
  readonly server: Addressed
  readonly client: Client
  readonly key: NewKey
}

const using = (running: () => Started) => ({
  home: () => running().home,
  server: () => running().server,
  client: () => running().client,
  key: () => running().key,
  /** A call with the file's key, judged. */
  get: (target: string, options: Options = {}): Promise<Reply> =>
    running().client.call(target, { key: running().key.key, ...options })
})

const started = <A extends Started>(state: A | undefined): A => {
  if (state === undefined) throw new Error("the server is started by beforeAll")
  return state
}

const expectCharged = async (home: string, accounts: Iterable<string>, announced: ReadonlyArray<Charge>) =>
  expect(byRequest(charges(await statements(home, accounts)))).toEqual(byRequest(announced))

/** The server that all files share, whose log begins here. */
export const sharedByFiles = () => {
  const { api, console, environment, home, log } = inject("sharedServer")
  if (environment.LARDER_LEDGER_URL !== undefined) operateIn(home, environment.LARDER_LEDGER_URL)
  const from = statSync(log).size
  return { home, environment, server: { api, console, logs: () => readFileSync(log).subarray(from).toString() } }
}

/** The shared server, over the bundled samples. */
export const served = () => {
  let state: Started | undefined
  beforeAll(async () => {
    accountsOfFile.clear()
    const { home, server } = sharedByFiles()
    state = { home, server, client: await makeClient(server.api), key: await createKey(home) }
  })
  afterAll(async () => {
    if (state === undefined) return // beforeAll has said why
    await expectCharged(state.home, accountsOfFile, state.client.charges)
    state.client.close()
  })
  return using(() => started(state))
}

interface Settings {
  readonly environment?: Readonly<Record<string, string>>
  /** Makes the home that is served, and removed when the tests are done; by default a copy of the bundled samples. */
  readonly home?: () => Promise<string>
}

const sampled = async () => copyHome(inject("sampleHome"))

/** A server that only this file uses: with settings, data or restarts of its own. */
export const startOwnServer = ({ environment: given = {}, home: makeHome = sampled }: Settings = {}) => {
  let state: { readonly home: string; server: Server; client: Client; readonly key: NewKey } | undefined
  let environment = given
  /** Announced before a restart. */
  const earlier: Array<Charge> = []

  beforeAll(async () => {
    const home = await makeHome()
    let server: Server | undefined
    try {
      environment = { ...given, ...(await ledgerSettings(home)) }
      server = await startServer(home, environment)
      state = { home, server, client: await makeClient(server.api), key: await createKey(home) }
    } catch (error) {
      await server?.stop()
      rmSync(home, { recursive: true, force: true })
      throw error
    }
  })
  afterAll(async () => {
    if (state === undefined) return // beforeAll has said why
    const { client, home, server } = state
    try {
      await expectCharged(home, await accountsIn(home), [...earlier, ...client.charges])
    } finally {
      client.close()
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    }
  })

  return {
    ...using(() => started(state)),
    /** Stops the server, does something, and starts it again over the same home. */
    restart: async (between: () => Promise<void> = () => Promise.resolve()) => {
      const now = started(state)
      earlier.push(...now.client.charges)
      now.client.close()
      await now.server.stop()
      await between()
      now.server = await startServer(now.home, environment)
      now.client = await makeClient(now.server.api)
    }
  }
}

export type Served = ReturnType<typeof served>

/** The error that a reply carries, as one line: `400 invalid_request: limit must be …`. */
export const errorOf = ({ json, status }: Reply): string => {
  const { error } = json as { readonly error: { readonly type: string; readonly message: string } }
  return `${status} ${error.type}: ${error.message}`
}
