/** The console of a real server, and people who sign in to it. */
import { rmSync } from "node:fs"
import { layerPeopleAdministration } from "@larder/serve/cli"
import { PeopleAdministration } from "@larder/serve/people"
import { ConfigProvider, Effect } from "effect"
import { afterAll, beforeAll, inject } from "vitest"
import { makeLedgerSettings } from "../api/ledger-settings.ts"
import { administer } from "../api/operator.ts"
import { findSharedServer, type ServerView } from "../api/server.ts"
import { type Environment, type Server, startServer } from "../programs.ts"
import { copyHome } from "../sample-home.ts"
import { makeBrowser } from "./browser.ts"
import { withQuickPasswords } from "./quick-passwords.ts"

export const password = "a long enough pass phrase"

type Administered = PeopleAdministration["Service"]

interface Running {
  readonly home: string
  readonly server: ServerView
  /** Of the server, for another one over the same ledger. */
  readonly environment: Environment
}

/** People of a worker have different addresses, also where they share a server. */
let people = 0

const using = (running: () => Running) => {
  /** As `larder-serve people` does it, through the running server. */
  const linkFrom = async (asked: (people: Administered) => ReturnType<Administered["resetPerson"]>) => {
    const { environment, home } = running()
    const { link } = await Effect.runPromise(
      PeopleAdministration.use(asked).pipe(
        Effect.provide(layerPeopleAdministration(home)),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment)))
      )
    )
    return new URL(link).pathname
  }
  const invite = (account_id: string, { email = null, is_operator = false }: Partial<Invitation> = {}) =>
    linkFrom((people) => people.invitePerson({ account_id, email, is_operator }))
  /** Of the only person of an account. */
  const reset = (account_id: string) =>
    linkFrom((people) =>
      Effect.flatMap(people.listPeople({ account_id }), (listed) =>
        people.resetPerson({ person_id: listed.people[0]?.id ?? "" })
      )
    )
  const browser = () => {
    const { environment, server } = running()
    return makeBrowser(server.console, environment.LARDER_CONSOLE_URL ?? server.console)
  }
  const newAccount = (name = "Bakery") => administer(running().home, (ledger) => ledger.createAccount({ name }))

  return {
    api: () => running().server.api,
    url: () => running().server.console,
    logs: () => running().server.logs(),
    home: () => running().home,
    environment: () => running().environment,
    invite,
    reset,
    browser,
    newAccount,
    /** Somebody who has just signed in to a new account with its 5,000 credits. */
    signedIn: async ({ is_operator = false, name = "Bakery" } = {}) => {
      const account = await newAccount(name)
      const email = `person-${process.pid}-${++people}@example.com`
      const opened = browser()
      await opened.post(await invite(account.id, { is_operator }), { email, password })
      return { account, email, browser: opened }
    }
  }
}

const started = (state: Running | undefined): Running => {
  if (state === undefined) throw new Error("the server is started by beforeAll")
  return state
}

/** The console of the server that all files share. */
export const servedConsole = () => {
  let state: Running | undefined
  beforeAll(() => {
    state = findSharedServer()
  })
  return using(() => started(state))
}

/** A console that only this file uses, whose passwords cost nothing: with settings of its own, or all of whose accounts and log matter. */
export const servedConsoleAlone = ({ environment: given = {} }: { readonly environment?: Environment } = {}) => {
  let state: (Running & { readonly server: Server }) | undefined
  beforeAll(async () => {
    const home = copyHome(inject("sampleHome"))
    const ledger = given.LARDER_LEDGER_URL === undefined ? await makeLedgerSettings(home) : {}
    const environment = withQuickPasswords({ ...given, ...ledger })
    state = { home, environment, server: await startServer(home, environment) }
  })
  afterAll(async () => {
    await state?.server.stop()
    if (state !== undefined) rmSync(state.home, { recursive: true, force: true })
  })
  return using(() => started(state))
}

interface Invitation {
  readonly email: string | null
  readonly is_operator: boolean
}
export type ServedConsole = ReturnType<typeof servedConsole>

/** The key that a page shows; undefined where it shows none. */
export const keyIn = (text: string): string | undefined => /svc_data_[A-Za-z0-9]{64}/.exec(text)?.[0]
