/**
 * A real server over the bundled samples, with an account of its own, for one file of tests. When the tests are done the
 * ledger must hold exactly the charges that the answers announced: that closes every file.
 */
import { rmSync } from "node:fs"
import type { NewKey } from "@larder/serve/ledger/administration.ts"
import type { Entry } from "@larder/serve/ledger/records.ts"
import { afterAll, beforeAll, expect, inject } from "vitest"
import { newDatabase } from "../postgres/server.ts"
import { type Server, startServer } from "../programs.ts"
import { copyHome } from "../sample-home.ts"
import { type Charge, type Client, makeClient, type Options } from "./client.ts"
import type { Reply } from "./judge.ts"
import { createKey, operateIn, statements } from "./operator.ts"

const charges = (entries: ReadonlyArray<Entry>) =>
  entries.flatMap(({ credits, endpoint, request_id, type }) =>
    type === "charge" ? [{ request_id: String(request_id), credits: -credits, endpoint }] : []
  )
const byRequest = <A extends { readonly request_id: string }>(rows: ReadonlyArray<A>) =>
  rows.toSorted((a, b) => a.request_id.localeCompare(b.request_id))

/** Where the ledger of a server may be kept. What a caller meets is the same. */
export const ledgers = ["in its folder", "in PostgreSQL"] as const

interface Settings {
  readonly environment?: Readonly<Record<string, string>>
  readonly ledger?: (typeof ledgers)[number]
  /** Makes the home that is served, and removed when the tests are done; by default a copy of the bundled samples. */
  readonly home?: () => Promise<string>
}

const sampled = async () => copyHome(inject("sampleHome"))

/** Registers start and end of a server with the file's hooks; what it returns may be used inside of tests. */
export const served = ({
  environment: given = {},
  home: makeHome = sampled,
  ledger = "in its folder"
}: Settings = {}) => {
  interface State {
    readonly home: string
    server: Server
    client: Client
    readonly key: NewKey
  }
  let state: State | undefined
  const running = () => {
    if (state === undefined) throw new Error("the server is started by beforeAll")
    return state
  }
  let url: string | undefined
  const keepInPostgres = async (home: string) => {
    url = await newDatabase(inject("postgresUrl"))
    operateIn(home, url)
  }
  const environment = () => (url === undefined ? given : { ...given, LARDER_LEDGER_URL: url })
  /** Announced before a restart. */
  const earlier: Array<Charge> = []

  beforeAll(async () => {
    const home = await makeHome()
    let server: Server | undefined
    try {
      if (ledger === "in PostgreSQL") await keepInPostgres(home)
      server = await startServer(home, environment())
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
      expect(byRequest(charges(await statements(home)))).toEqual(byRequest([...earlier, ...client.charges]))
    } finally {
      client.close()
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    }
  })

  return {
    home: () => running().home,
    server: () => running().server,
    client: () => running().client,
    key: () => running().key,
    /** A call with the file's key, judged. */
    get: (target: string, options: Options = {}): Promise<Reply> =>
      running().client.call(target, { key: running().key.key, ...options }),
    /** Stops the server, does something, and starts it again over the same home. */
    restart: async (between: () => Promise<void> = () => Promise.resolve()) => {
      const now = running()
      earlier.push(...now.client.charges)
      now.client.close()
      await now.server.stop()
      await between()
      now.server = await startServer(now.home, environment())
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
