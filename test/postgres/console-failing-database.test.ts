/** What stands in the log when the database fails under a sign-in or a new key: what happened, and no secret of anybody. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { breakableWire } from "../ledger/breakable-wire.ts"
import { connected } from "../ledger/outage.ts"
import { operateIn } from "../support/api/operator.ts"
import type { PageResponse } from "../support/console/browser.ts"
import { findKey } from "../support/console/pages.ts"
import { password, startOwnConsole } from "../support/console/served-console.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"

const database = await newDatabase(inject("postgresUrl"))
const wire = await breakableWire(database)
const site = startOwnConsole({ environment: { LARDER_LEDGER_URL: wire.url } })
beforeAll(() => operateIn(site.home(), database))
afterAll(() => wire.close())

type Person = Awaited<ReturnType<typeof site.signIn>> & { readonly link: string }
const chosen = "quite another pass phrase"

const actions: ReadonlyArray<readonly [what: string, act: (person: Person) => Promise<PageResponse>]> = [
  ["a sign-in", ({ email }) => site.openBrowser().post("/sign-in", { email, password })],
  ["an invitation", ({ email, link }) => site.openBrowser().post(link, { email: `new-${email}`, password: chosen })],
  ["a new password", ({ browser }) => browser.post("/account", { current: password, next: chosen })],
  ["a new key", ({ browser }) => browser.post("/keys/new", { name: "Dashboard", access: "all", budget: "25" })]
]

const onAllTables = (statement: string) => `do $$
declare one record;
begin
  for one in select schemaname as room, tablename as name from pg_tables where schemaname in ('console', 'ledger')
  loop execute format('${statement}', one.room, one.name); end loop;
end $$`
const change = (statement: string) => connected(database, (sql) => sql.unsafe(onAllTables(statement)))

const ways: ReadonlyArray<
  readonly [what: string, failing: (act: () => Promise<PageResponse>) => Promise<PageResponse>]
> = [
  [
    "does not answer",
    async (act) => {
      wire.cut()
      return act()
    }
  ],
  [
    "refuses every row, and says what stands in it",
    async (act) => {
      await change("alter table %I.%I add constraint refused check (false) not valid")
      return act().finally(() => change("alter table %I.%I drop constraint refused"))
    }
  ],
  [
    "is lost while it writes",
    (act) =>
      connected(database, (sql) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql.unsafe(onAllTables("lock table %I.%I in share mode"))
            const acting = act()
            yield* untilWaitingForLocks(sql)
            wire.cut()
            return yield* Effect.promise(() => acting)
          })
        )
      )
  ]
]

const readyAgain = async () => {
  wire.mend()
  while (!(await fetch(`${site.url()}/readyz`)).ok) await sleep(20)
}

describe.each(ways)("a database that %s", (_way, failing) => {
  it.each(actions)("leaves no secret of %s in the log", async (_what, act) => {
    const made = await site.signIn()
    const person = { ...made, link: await site.invite(made.account.id) }
    const before = site.logs().length
    const answer = await failing(() => act(person)).finally(readyAgain)
    expect([500, 503]).toContain(answer.status)
    expect(findKey(answer.text)).toBeUndefined()
    const logged = () => site.logs().slice(before)
    await expect.poll(logged).toContain("a page of the console failed")
    const secrets = [password, chosen, person.link.split("/").at(-1) ?? "", ...made.browser.cookies.values()]
    expect(secrets.filter((secret) => logged().includes(secret))).toEqual([])
    expect(logged()).not.toMatch(/svc_data_[A-Za-z0-9]{64}|\$scrypt\$/)
  })
})
