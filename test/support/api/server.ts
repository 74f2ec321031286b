/**
 * A real server for the tests of one file, and an account for that file. When the tests end, the ledger must have exactly
 * the charges that the responses have stated.
 */
import { readFileSync, rmSync, statSync } from "node:fs"
import type { Entry, NewKey } from "@larder/serve/ledger"
import { afterAll, beforeAll, expect, inject } from "vitest"
import { type Server, startServer } from "../programs.ts"
import { copyHome } from "../sample-home.ts"
import type { Reply } from "./check-response.ts"
import { type Charge, type Client, makeClient, type Options } from "./client.ts"
import { makeLedgerSettings } from "./ledger-settings.ts"
import { createdAccounts, createKey, listAccountIds, listEntriesOf, setLedgerUrl } from "./operator.ts"

const listCharges = (entries: ReadonlyArray<Entry>) =>
  entries.flatMap(({ credits, endpoint, request_id, type }) =>
    type === "charge" ? [{ request_id: String(request_id), credits: -credits, endpoint }] : []
  )
const sortByRequest = <A extends { readonly request_id: string }>(rows: ReadonlyArray<A>) =>
  rows.toSorted((a, b) => a.request_id.localeCompare(b.request_id))

/** The part of a server that tests use. */
export type ServerView = Pick<Server, "api" | "console" | "logs">

interface Started {
  readonly home: string
  readonly server: ServerView
  readonly client: Client
  readonly key: NewKey
}

const makeAccessors = (running: () => Started) => ({
  home: () => running().home,
  server: () => running().server,
  client: () => running().client,
  key: () => running().key,
  /** Makes a checked call with the file's key. */
  get: (target: string, options: Options = {}): Promise<Reply> =>
    running().client.call(target, { key: running().key.key, ...options })
})

const expectStarted = <A extends Started>(state: A | undefined): A => {
  if (state === undefined) throw new Error("the server is not started before beforeAll")
  return state
}

const expectCharges = async (home: string, accounts: Iterable<string>, stated: ReadonlyArray<Charge>) =>
  expect(sortByRequest(listCharges(await listEntriesOf(home, accounts)))).toEqual(sortByRequest(stated))

/** Returns the server that all files share, with its log from now on. */
export const findSharedServer = () => {
  const { api, console, environment, home, log } = inject("sharedServer")
  if (environment.LARDER_LEDGER_URL !== undefined) setLedgerUrl(home, environment.LARDER_LEDGER_URL)
  const from = statSync(log).size
  return { home, environment, server: { api, console, logs: () => readFileSync(log).subarray(from).toString() } }
}

/** Uses the shared server, which has the bundled samples. */
export const useSharedServer = () => {
  let state: Started | undefined
  beforeAll(async () => {
    createdAccounts.clear()
    const { home, server } = findSharedServer()
    state = { home, server, client: await makeClient(server.api), key: await createKey(home) }
  })
  afterAll(async () => {
    if (state === undefined) return // beforeAll has reported why
    await expectCharges(state.home, createdAccounts, state.client.charges)
    state.client.close()
  })
  return makeAccessors(() => expectStarted(state))
}

interface Settings {
  readonly environment?: Readonly<Record<string, string>>
  /** Creates the server's home, which is removed after the tests; by default a copy of the bundled samples. */
  readonly home?: () => Promise<string>
}

const copySamples = async () => copyHome(inject("sampleHome"))

/** Starts a server that only this file uses, for separate settings, data or restarts. */
export const startOwnServer = ({ environment: given = {}, home: makeHome = copySamples }: Settings = {}) => {
  let state: { readonly home: string; server: Server; client: Client; readonly key: NewKey } | undefined
  let environment = given
  /** Charges stated before a restart. */
  const earlier: Array<Charge> = []

  beforeAll(async () => {
    const home = await makeHome()
    let server: Server | undefined
    try {
      environment = { ...given, ...(await makeLedgerSettings(home)) }
      server = await startServer(home, environment)
      state = { home, server, client: await makeClient(server.api), key: await createKey(home) }
    } catch (error) {
      await server?.stop()
      rmSync(home, { recursive: true, force: true })
      throw error
    }
  })
  afterAll(async () => {
    if (state === undefined) return // beforeAll has reported why
    const { client, home, server } = state
    try {
      await expectCharges(home, await listAccountIds(home), [...earlier, ...client.charges])
    } finally {
      client.close()
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    }
  })

  return {
    ...makeAccessors(() => expectStarted(state)),
    /** Stops the server, runs `between`, and starts the server again with the same home. */
    restart: async (between: () => Promise<void> = () => Promise.resolve()) => {
      const now = expectStarted(state)
      earlier.push(...now.client.charges)
      now.client.close()
      await now.server.stop()
      await between()
      now.server = await startServer(now.home, environment)
      now.client = await makeClient(now.server.api)
    }
  }
}

export type SharedServer = ReturnType<typeof useSharedServer>

/** The error in a response as one line: `400 invalid_request: limit must be …`. */
export const formatError = ({ json, status }: Reply): string => {
  const { error } = json as { readonly error: { readonly type: string; readonly message: string } }
  return `${status} ${error.type}: ${error.message}`
}
