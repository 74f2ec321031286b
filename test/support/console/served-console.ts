/** The console of a real server, for people who sign in to it. */
import { rmSync } from "node:fs"
import { layerPeopleAdministration } from "@larder/serve/cli/control/reach.ts"
import { PeopleAdministration } from "@larder/serve/people"
import { ConfigProvider, Effect } from "effect"
import { afterAll, beforeAll, inject } from "vitest"
import { makeLedgerSettings } from "../api/ledger-settings.ts"
import { administer } from "../api/operator.ts"
import { findSharedServer, type ServerView } from "../api/server.ts"
import { type Environment, type Server, startServer } from "../programs.ts"
import { copyHome } from "../sample-home.ts"
import { makeBrowser } from "./browser.ts"
import { addQuickPasswords } from "./quick-passwords.ts"

export const password = "a long enough pass phrase"

type Administered = PeopleAdministration["Service"]

interface Running {
  readonly home: string
  readonly server: ServerView
  /** The environment of the server, for another server over the same ledger. */
  readonly environment: Environment
}

/** Makes e-mail addresses unique within a worker, whose test files share a server. */
let people = 0

const makeSite = (getRunning: () => Running) => {
  /** Creates a one-time link through the running server, like `larder-serve people`. */
  const createLink = async (command: (people: Administered) => ReturnType<Administered["resetPerson"]>) => {
    const { environment, home } = getRunning()
    const { link } = await Effect.runPromise(
      PeopleAdministration.use(command).pipe(
        Effect.provide(layerPeopleAdministration(home)),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment)))
      )
    )
    return new URL(link).pathname
  }
  const invite = (account_id: string, { email = null, is_operator = false }: Partial<Invitation> = {}) =>
    createLink((people) => people.invitePerson({ account_id, email, is_operator }))
  /** Resets the password of the only person of an account. */
  const reset = (account_id: string) =>
    createLink((people) =>
      Effect.flatMap(people.listPeople({ account_id }), (listed) =>
        people.resetPerson({ person_id: listed.people[0]?.id ?? "" })
      )
    )
  const openBrowser = () => {
    const { environment, server } = getRunning()
    return makeBrowser(server.console, environment.LARDER_CONSOLE_URL ?? server.console)
  }
  const createAccount = (name = "Bakery") => administer(getRunning().home, (ledger) => ledger.createAccount({ name }))

  return {
    api: () => getRunning().server.api,
    url: () => getRunning().server.console,
    logs: () => getRunning().server.logs(),
    home: () => getRunning().home,
    environment: () => getRunning().environment,
    invite,
    reset,
    openBrowser,
    createAccount,
    /** Signs in a new person to a new account with its 5,000 starting credits. */
    signIn: async ({ is_operator = false, name = "Bakery" } = {}) => {
      const account = await createAccount(name)
      const email = `person-${process.pid}-${++people}@example.com`
      const browser = openBrowser()
      await browser.post(await invite(account.id, { is_operator }), { email, password })
      return { account, email, browser }
    }
  }
}

const requireRunning = (state: Running | undefined): Running => {
  if (state === undefined) throw new Error("the server is started by beforeAll")
  return state
}

/** The console of the server that all test files share. */
export const useSharedConsole = () => {
  let state: Running | undefined
  beforeAll(() => {
    state = findSharedServer()
  })
  return makeSite(() => requireRunning(state))
}

/** A console with quick passwords for one test file, which needs its own settings, or examines all accounts or the log. */
export const startOwnConsole = ({ environment: given = {} }: { readonly environment?: Environment } = {}) => {
  let state: (Running & { readonly server: Server }) | undefined
  beforeAll(async () => {
    const home = copyHome(inject("sampleHome"))
    const ledger = given.LARDER_LEDGER_URL === undefined ? await makeLedgerSettings(home) : {}
    const environment = addQuickPasswords({ ...given, ...ledger })
    state = { home, environment, server: await startServer(home, environment) }
  })
  afterAll(async () => {
    await state?.server.stop()
    if (state !== undefined) rmSync(state.home, { recursive: true, force: true })
  })
  return makeSite(() => requireRunning(state))
}

interface Invitation {
  readonly email: string | null
  readonly is_operator: boolean
}
export type ServedConsole = ReturnType<typeof useSharedConsole>
