/** Downloads whose database fails midway: the client sees that the file is incomplete, and the log contains the reason. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest"
import { startFaultyProxy } from "../ledger/faulty-proxy.ts"
import { withConnection } from "../ledger/outage.ts"
import { setLedgerUrl } from "../support/api/operator.ts"
import { startOwnConsole } from "../support/console/served-console.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"

const database = await newDatabase(inject("postgresUrl"))
const proxy = await startFaultyProxy(database)
const site = startOwnConsole({ environment: { LARDER_LEDGER_URL: proxy.url } })
beforeAll(() => setLedgerUrl(site.home(), database))
afterAll(() => proxy.close())

const logMessage = "a download of the console was cut off"

/** Requests a file, and cuts the connection to the database when its rows are queried. */
const requestAndCut = (table: string, request: () => Promise<Response>) =>
  withConnection(database, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(`lock table ${table} in access exclusive mode`)
        const response = yield* Effect.promise(request)
        yield* untilWaitingForLocks(sql)
        proxy.cut()
        return response
      })
    )
  )

afterEach(async () => {
  proxy.repair()
  while (!(await fetch(`${site.url()}/readyz`)).ok) await sleep(20)
})

describe.each([
  ["/usage.csv", "ledger.usage_of_day", "larder-usage-"],
  ["/usage/statuses.csv", "console.usage_of_status", "larder-statuses-"],
  ["/billing/ledger.csv", "ledger.entry", "larder-ledger-"]
])("%s when its database is lost midway", (path, table, name) => {
  it("is cut off, and the log names the file and the reason, but no secret", async () => {
    const { browser } = await site.signIn()
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const before = site.logs().length
    const readLogs = () => site.logs().slice(before)
    const response = await requestAndCut(table, () => fetch(new URL(path, site.url()), { headers: { cookie } }))
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    await expect.poll(readLogs).toContain(logMessage)
    const [line = ""] = readLogs()
      .split("\n")
      .filter((text) => text.includes(logMessage))
    expect(line).toContain(name)
    expect(readLogs()).toMatch(/(ConsoleUnavailable|LedgerUnavailable)/)
    expect([...browser.cookies.values()].filter((secret) => readLogs().includes(secret))).toEqual([])
  })
})
