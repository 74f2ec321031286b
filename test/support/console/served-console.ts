/** The console of a real server, and people who sign in to it. */
import { rmSync } from "node:fs"
import { PeopleAdministration } from "@larder/serve/people/people-administration.ts"
import { layerPeopleAdministration } from "@larder/serve/people/reach.ts"
import { ConfigProvider, Effect } from "effect"
import { afterAll, beforeAll, inject } from "vitest"
import { operate, operateIn } from "../api/operator.ts"
import type { ledgers } from "../api/served.ts"
import { newDatabase } from "../postgres/server.ts"
import { type Environment, type Server, startServer } from "../programs.ts"
import { copyHome } from "../sample-home.ts"
import { makeBrowser } from "./browser.ts"

export const password = "a long enough pass phrase"

type Administered = PeopleAdministration["Service"]

interface Settings {
  readonly environment?: Environment
  readonly ledger?: (typeof ledgers)[number]
}

/** Registers start and end with the file's hooks; what it returns may be used inside of tests. */
export const servedConsole = ({ environment: given = {}, ledger = "in its folder" }: Settings = {}) => {
  let home = ""
  let server: Server | undefined
  let environment = given
  const running = () => {
    if (server === undefined) throw new Error("the server is started by beforeAll")
    return server
  }
  beforeAll(async () => {
    home = copyHome(inject("sampleHome"))
    if (ledger === "in PostgreSQL") {
      const url = await newDatabase(inject("postgresUrl"))
      operateIn(home, url)
      environment = { ...given, LARDER_LEDGER_URL: url }
    }
    server = await startServer(home, environment)
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  /** As `larder-serve people` does it, through the running server. */
  const linkFrom = async (asked: (people: Administered) => ReturnType<Administered["resetPerson"]>) => {
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
  const origin = () => environment.LARDER_CONSOLE_URL ?? running().console
  const browser = () => makeBrowser(running().console, origin())
  const newAccount = (name = "Bakery") => operate(home, (ledger) => ledger.createAccount({ name }))
  let people = 0

  return {
    api: () => running().api,
    url: () => running().console,
    logs: () => running().logs(),
    home: () => home,
    /** Of the server, for another one over the same ledger. */
    environment: () => environment,
    invite,
    reset,
    browser,
    newAccount,
    /** Somebody who has just signed in to a new account with its 5,000 credits. */
    signedIn: async ({ is_operator = false, name = "Bakery" } = {}) => {
      const account = await newAccount(name)
      const email = `person-${++people}@example.com`
      const opened = browser()
      await opened.post(await invite(account.id, { is_operator }), { email, password })
      return { account, email, browser: opened }
    }
  }
}
interface Invitation {
  readonly email: string | null
  readonly is_operator: boolean
}
export type ServedConsole = ReturnType<typeof servedConsole>

/** The key that a page shows; undefined where it shows none. */
export const keyIn = (text: string): string | undefined => /svc_data_[A-Za-z0-9]{64}/.exec(text)?.[0]
