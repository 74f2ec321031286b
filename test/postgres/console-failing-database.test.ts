/** When the database fails during a sign-in or for a new key, the log contains what happened, but no secret. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { newKey } from "../console/key-forms.ts"
import { startFaultyProxy } from "../ledger/faulty-proxy.ts"
import { withConnection } from "../ledger/outage.ts"
import { setLedgerUrl } from "../support/api/operator.ts"
import type { PageResponse } from "../support/console/browser.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { password, startOwnConsole } from "../support/console/served-console.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"

const database = await newDatabase(inject("postgresUrl"))
const proxy = await startFaultyProxy(database)
const site = startOwnConsole({ environment: { LARDER_LEDGER_URL: proxy.url } })
beforeAll(() => setLedgerUrl(site.home(), database))
afterAll(() => proxy.close())

type Person = Awaited<ReturnType<typeof site.signIn>> & { readonly link: string; readonly form_owner: string }
const chosen = "quite another pass phrase"

const actions: ReadonlyArray<readonly [what: string, act: (person: Person) => Promise<PageResponse>]> = [
  ["a sign-in", ({ email }) => site.openBrowser().post("/sign-in", { email, password })],
  ["an invitation", ({ email, link }) => site.openBrowser().post(link, { email: `new-${email}`, password: chosen })],
  [
    "a new password",
    ({ browser, form_owner }) => browser.post("/account", { form_owner, current: password, next: chosen })
  ],
  ["a new key", ({ browser, form_owner }) => browser.post("/keys/new", { form_owner, ...newKey })]
]

const onAllTables = (statement: string) => `do $$
declare item record;
begin
  for item in select schemaname, tablename from pg_tables where schemaname in ('console', 'ledger')
  loop execute format('${statement}', item.schemaname, item.tablename); end loop;
end $$`
const change = (statement: string) => withConnection(database, (sql) => sql.unsafe(onAllTables(statement)))

const failures: ReadonlyArray<
  readonly [what: string, runFailing: (act: () => Promise<PageResponse>) => Promise<PageResponse>]
> = [
  [
    "does not respond",
    async (act) => {
      proxy.cut()
      return act()
    }
  ],
  [
    "refuses every row, with its content in the error",
    async (act) => {
      await change("alter table %I.%I add constraint refused check (false) not valid")
      return act().finally(() => change("alter table %I.%I drop constraint refused"))
    }
  ],
  [
    "is lost while it writes",
    (act) =>
      withConnection(database, (sql) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql.unsafe(onAllTables("lock table %I.%I in share mode"))
            const page = act()
            yield* untilWaitingForLocks(sql)
            proxy.cut()
            return yield* Effect.promise(() => page)
          })
        )
      )
  ]
]

const waitUntilReady = async () => {
  proxy.repair()
  while (!(await fetch(`${site.url()}/readyz`)).ok) await sleep(20)
}

describe.each(failures)("a database that %s", (_failure, runFailing) => {
  it.each(actions)("leaves no secret of %s in the log", async (_what, act) => {
    const signedIn = await site.signIn()
    const { form_owner = "" } = readHiddenFields((await signedIn.browser.get("/account")).text)
    const person = { ...signedIn, form_owner, link: await site.invite(signedIn.account.id) }
    const before = site.logs().length
    const page = await runFailing(() => act(person)).finally(waitUntilReady)
    expect([500, 503]).toContain(page.status)
    expect(findKey(page.text)).toBeUndefined()
    const readLogs = () => site.logs().slice(before)
    await expect.poll(readLogs).toContain("a page of the console failed")
    const secrets = [password, chosen, person.link.split("/").at(-1) ?? "", ...signedIn.browser.cookies.values()]
    expect(secrets.filter((secret) => readLogs().includes(secret))).toEqual([])
    expect(readLogs()).not.toMatch(/svc_data_[A-Za-z0-9]{64}|\$scrypt\$/)
  })
})
